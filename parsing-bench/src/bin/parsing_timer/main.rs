// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Times kernels by criterion, which decides how many bursts a sample has and what follows from the samples. The bursts
//! are run by a program of their own, `measure serve`, of whichever variant, so that this one is built once for all.
//!
//! It prints a line of JSON for each pool of frames and for each kernel, and criterion's words in between; criterion
//! writes what it finds below the folder that `CRITERION_HOME` names.
#![forbid(unsafe_code)]

mod options;
mod program;

use criterion::{BenchmarkId, Criterion, Throughput};
use options::Options;
use program::{Program, ProgramError};
use serde_json::json;
use std::{error::Error, process::ExitCode, time::Duration};

/// Anything but zero, by which criterion would divide.
const NO_TIME: Duration = Duration::from_nanos(1);

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("parsing-timer: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let options = Options::parse(lexopt::Parser::from_env())?;
    let mut program = Program::start(&options.program, &["serve"])?;
    let mut criterion = Criterion::default()
        .sample_size(options.samples)
        .measurement_time(options.measurement)
        .warm_up_time(options.warm_up)
        .nresamples(options.resamples)
        .with_output_color(false)
        .without_plots();
    for residency in &options.residencies {
        for workload in &options.workloads {
            let pool = program.ask(&options.pool(workload, residency)?, "pool")?;
            let burst = pool.get("burst").and_then(serde_json::Value::as_u64).ok_or("its pool tells no 'burst'")?;
            tell(&pool);
            for library in &options.libraries {
                program.ask(&format!("kernel {library}"), "ready")?;
                time(&mut criterion, &mut program, [workload, library, residency], burst)?;
                tell(&json!({
                    "type": "timed",
                    "library": library,
                    "workload": workload,
                    "residency": residency,
                    "burst": burst,
                }));
            }
        }
    }
    // A reader knows by this that nothing is missing.
    tell(&json!({ "type": "end" }));
    Ok(())
}

/// Criterion cannot be stopped by an error: it is given figures of no meaning then, and the error is told afterwards.
fn time(
    criterion: &mut Criterion,
    program: &mut Program,
    [workload, library, residency]: [&str; 3],
    burst: u64,
) -> Result<(), ProgramError> {
    let mut failure = None;
    let mut group = criterion.benchmark_group(workload);
    group.throughput(Throughput::Elements(burst));
    group.bench_function(BenchmarkId::new(library, residency), |bencher| {
        bencher.iter_custom(|bursts| {
            let took = if failure.is_none() { program.run(bursts) } else { Ok(NO_TIME) };
            took.unwrap_or_else(|error| {
                failure = Some(error);
                NO_TIME
            })
        });
    });
    group.finish();
    failure.map_or(Ok(()), Err)
}

/// Prints one line of JSON. A reader that has gone away is no reason to go on.
#[allow(clippy::print_stdout)]
fn tell(line: &serde_json::Value) {
    println!("{line}");
}
