// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Time per burst, by criterion.

use crate::{
    kernel::{Cell, Choice, Kernel},
    options::Settings,
    pool::{Pool, Residency},
    tell,
};
use criterion::{BenchmarkId, Criterion, Throughput};
use parsing_bench::{contract::Workload, trace::BURST};
use serde_json::json;
use std::error::Error;

/// For the intervals; criterion's own 100,000 take longer than the measurement.
const RESAMPLES: usize = 10_000;

/// Times the chosen kernels in the chosen residencies.
pub(crate) fn run(choice: &Choice, settings: &Settings) -> Result<(), Box<dyn Error>> {
    let mut criterion = Criterion::default()
        .sample_size(settings.samples)
        .measurement_time(settings.measurement)
        .warm_up_time(settings.warm_up)
        .nresamples(RESAMPLES)
        .with_output_color(false)
        .without_plots();
    let cells: Vec<Cell> = choice.nothing().chain(choice.cells()).collect();
    for residency in &settings.residencies {
        for workload in &choice.workloads {
            let mut pool = pool(*residency, *workload, settings)?;
            tell(&json!({
                "type": "pool",
                "residency": residency.name(),
                "workload": workload.to_string(),
                "frames": pool.frames(),
                "touched_bytes": pool.touched_bytes(),
            }));
            for cell in cells.iter().filter(|cell| cell.workload == *workload) {
                time(&mut criterion, cell, *residency, &mut pool);
            }
        }
    }
    Ok(())
}

fn pool(residency: Residency, workload: Workload, settings: &Settings) -> Result<Pool, Box<dyn Error>> {
    match residency {
        Residency::Hot => Pool::of_few(workload),
        Residency::L2 => Pool::touching(workload, settings.l2_bytes, settings.memory),
        Residency::Cold | Residency::ColdPrefetch => Pool::touching(workload, settings.cold_bytes, settings.memory),
    }
}

fn time(criterion: &mut Criterion, cell: &Cell, residency: Residency, pool: &mut Pool) {
    // What a kernel before this one has made of the frames must not matter; readers make nothing of them.
    if matches!(cell.kernel, Kernel::Writer(_)) {
        pool.refill();
    }
    let workload = cell.workload.to_string();
    let mut group = criterion.benchmark_group(&workload);
    group.throughput(Throughput::Elements(BURST as u64));
    group.bench_function(BenchmarkId::new(cell.library, residency.name()), |bencher| {
        bencher.iter(|| pool.burst(cell.kernel, residency));
    });
    group.finish();
    tell(&json!({
        "type": "timed",
        "library": cell.library,
        "workload": workload,
        "residency": residency.name(),
        "burst": BURST,
    }));
}
