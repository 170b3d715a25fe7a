// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Why DPDK does not start, or a device does not become a port, and what to do about it.
//!
//! After a failure, these functions examine the machine: hugepages and their mounts, permissions, other processes,
//! CPUs, sockets, NICs and the drivers to which they are bound, the IOMMU, and DPDK's drivers. They return what stands
//! in the way of the given command line, in the order in which DPDK meets it, so that the first finding is the most
//! likely cause. Each finding rests on a fact. If nothing fits, the list is empty.
//!
//! ```no_run
//! use dpdk_rs::{Eal, EalOptions, diagnosis};
//!
//! let options = EalOptions::from_command_line();
//! let args = options.words();
//! let (eal, own_args) = match Eal::init(options) {
//!     Ok(started) => started,
//!     Err(error) => {
//!         eprintln!("{error}");
//!         diagnosis::of_start(&args, &error).iter().for_each(|finding| eprintln!("{finding}"));
//!         std::process::exit(1);
//!     }
//! };
//! for finding in diagnosis::of_ports(&args, &eal) {
//!     eprintln!("{finding}"); // for example, a NIC that is not bound
//! }
//! ```
//!
//! The example `diagnose` does all of this. Run it first if something does not start.

mod access;
mod arguments;
mod cores;
mod devices;
mod drivers;
mod finding;
mod host;
mod hugetlb;
mod instance;
mod iommu;
mod memory;
mod nic;
mod numbers;
mod pci;
mod plugins;
#[cfg(test)]
mod tree;
mod words;

pub use drivers::DriverSource;
pub use finding::Finding;
pub use host::Process;
pub use hugetlb::{Hugepages, Reservation};
pub use nic::Use;

pub(crate) use instance::sharing;

use crate::{Eal, EalError, MempoolError, environment, port};
use arguments::Arguments;
use dpdk_sys as sys;
use drivers::Drivers;
use host::Host;
use std::{ffi::CString, io};

/// Why [`Eal::init`] failed with these arguments, such as [`EalOptions::words`](crate::EalOptions::words).
#[must_use]
pub fn of_start<S: AsRef<str>>(args: &[S], error: &EalError) -> Vec<Finding> {
    of_start_on(&Host::this(), &Arguments::new(args), error)
}

fn of_start_on(host: &Host, args: &Arguments, error: &EalError) -> Vec<Finding> {
    match error {
        EalError::Version { built, running } => {
            let (built, running) = (built.clone(), running.clone());
            vec![Finding::Version { built, running, library: drivers::environments(host).into_iter().next() }]
        }
        EalError::Init { .. } => {
            // In the order of `rte_eal_init`: the command line, plug-ins, devices, the configuration, memory.
            let mut findings = cores::of_start(args, host, sys::RTE_MAX_LCORE);
            findings.extend(access::of_start(args, host));
            findings.extend(plugins::of_start(args, host));
            findings.extend(devices::of_start(args, &Drivers::new(args, host, known)));
            findings.extend(instance::of_start(args, host));
            findings.extend(memory::of_start(args, host));
            findings
        }
        EalError::Device(name) => devices::of_refusal(args, host, &Drivers::new(args, host, known), name),
        _ => Vec::new(),
    }
}

/// Whether one of DPDK's buses recognises a device by this name. Before the start this is unknown.
fn known(device: &str) -> bool {
    // With one of these keys first, DPDK looks up its value, even if there is none. No driver has such a name.
    if device.contains(['=', '/']) || ["bus", "class", "driver"].contains(&device) {
        return false;
    }
    let Some(name) = CString::new(device).ok().filter(|_| environment::start_ended()) else { return false };
    // SAFETY: the name is a string that outlives the call. The only shared data that the call reads are the lists of
    // buses and drivers, which nothing changes after `rte_eal_init`.
    unsafe { sys::dpdk_sys_device_known(name.as_ptr()) != 0 }
}

/// Why devices are not ports of an EAL that was started with these arguments: the devices on the command line, or all
/// NICs of the machine if there is no port.
#[must_use]
pub fn of_ports<S: AsRef<str>>(args: &[S], eal: &Eal) -> Vec<Finding> {
    of_ports_on(&Host::this(), &Arguments::new(args), &port::names(eal))
}

fn of_ports_on(host: &Host, args: &Arguments, ports: &[String]) -> Vec<Finding> {
    let drivers = Drivers::new(args, host, known);
    let mut findings = devices::of_ports(args, host, &drivers, ports);
    findings.extend(pci::of_ports(args, host, &drivers, ports));
    findings.extend(plugins::two_versions(host).filter(|_| !findings.is_empty()));
    findings
}

/// Why a pool was not created on an EAL that was started with these arguments.
#[must_use]
pub fn of_pool<S: AsRef<str>>(args: &[S], error: &MempoolError) -> Vec<Finding> {
    of_pool_on(&Host::this(), &Arguments::new(args), error)
}

fn of_pool_on(host: &Host, args: &Arguments, error: &MempoolError) -> Vec<Finding> {
    let MempoolError::Create { size, socket, errno, .. } = error else { return Vec::new() };
    let out_of_memory = io::Error::from_raw_os_error(errno.get()).kind() == io::ErrorKind::OutOfMemory;
    let finding = if out_of_memory { memory::of_pool(args, host, *size, *socket) } else { plugins::of_pool(host) };
    finding.into_iter().collect()
}

/// Why an EAL that was started with these arguments has fewer lcores than `wanted`; empty if it has enough.
#[must_use]
pub fn of_lcores<S: AsRef<str>>(args: &[S], eal: &Eal, wanted: usize) -> Vec<Finding> {
    let lcores: Vec<u32> = eal.lcores().iter().map(|lcore| lcore.id().get()).collect();
    cores::of_lcores(&Arguments::new(args), &Host::this(), &lcores, wanted)
}

/// The hugepages of each NUMA node and size.
#[must_use]
pub fn hugepages() -> Vec<Hugepages> {
    hugetlb::hugepages(&Host::this())
}

#[cfg(test)]
mod tests {
    use super::{Finding, arguments::Arguments, drivers::tests::shared, of_pool_on, of_ports_on, of_start_on};
    use crate::{EalError, Errno, MempoolError, SocketId};

    fn arguments(line: &str) -> Arguments {
        Arguments::new(&line.split(' ').collect::<Vec<_>>())
    }

    #[test]
    fn findings_come_in_the_order_of_the_start() {
        let machine = shared().file("/sys/devices/system/cpu/cpu0/topology/core_id", "0").folder("/var/run");
        let line = "x -l 9 -d /opt/nothing.so --vdev=net_null0";
        let found = of_start_on(&machine.host(), &arguments(line), &EalError::Init(Errno::new(22)));
        assert!(
            matches!(
                found[..],
                [
                    Finding::CpusMissing { .. },
                    Finding::PluginMissing { .. },
                    Finding::DriverMissing { .. },
                    Finding::NoHugepages { .. }
                ]
            ),
            "{found:?}"
        );
    }

    #[test]
    fn errors_that_say_all_are_not_explained() {
        let host = shared();
        for error in [EalError::AlreadyInitialized, EalError::NoArguments, EalError::Secondary] {
            assert_eq!(of_start_on(&host.host(), &arguments("x"), &error), []);
        }
    }

    #[test]
    fn version_comes_with_the_library() {
        let error = EalError::Version { built: "24.11".to_owned(), running: "22.11.11".to_owned() };
        let found = of_start_on(&shared().host(), &arguments("x -l 99"), &error);
        let (built, running) = ("24.11".to_owned(), "22.11.11".to_owned());
        let library = Some("/usr/lib/librte_eal.so.23.0".into());
        assert_eq!(found, [Finding::Version { built, running, library }]);
    }

    #[test]
    fn second_version_is_reported_only_where_something_is_missing() {
        let maps =
            "7f-80 r-xp 0 08:01 2 /usr/lib/librte_eal.so.23.0\n7f-80 r-xp 0 08:01 2 /usr/lib/librte_eal.so.25.0\n";
        let machine = shared().file("/proc/self/maps", maps);
        assert_eq!(of_ports_on(&machine.host(), &arguments("x --vdev=net_ring0"), &["net_ring0".to_owned()]), []);
        let found = of_ports_on(&machine.host(), &arguments("x --vdev=net_ring0"), &[]);
        assert!(matches!(found[..], [Finding::DeviceRefused { .. }, Finding::TwoVersions { .. }]), "{found:?}");
    }

    #[test]
    fn pools_are_explained_by_memory_or_by_their_driver() {
        let machine = shared();
        let found = |errno| {
            let (name, size, socket, errno) = ("pool".to_owned(), 8191, SocketId::ANY, Errno::new(errno));
            let error = MempoolError::Create { name, size, socket, errno };
            of_pool_on(&machine.host(), &arguments("x --no-huge -m 16"), &error)
        };
        assert_eq!(found(12), [Finding::NoHugeMemoryTooSmall { asked_mb: 19, given_mb: 16 }]);
        assert_eq!(found(22), [], "the driver is there");
    }
}
