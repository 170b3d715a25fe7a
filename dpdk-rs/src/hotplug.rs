// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Virtual devices that are added and removed at run time.

use crate::{
    Eal, Errno, Port,
    device::{InvalidValue, VirtualDevice},
    environment::{ControlGuard, Environment, Reservation, driver::is_pci_address, ports, reservation},
    port::Unconfigured,
};
use dpdk_sys as sys;
use std::{
    collections::BTreeSet,
    ffi::{CStr, CString},
};

/// Why a device was not attached or detached.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HotplugError {
    /// The text contains a NUL byte, or the name is too long or has characters that are not ASCII, which DPDK's
    /// telemetry cannot show.
    #[error("device {0:?} cannot be used: give a name of at most {MOST_NAME} ASCII characters, and no NUL byte")]
    Name(String),
    /// A value in the description of the device cannot be used.
    #[error(transparent)]
    Value(#[from] InvalidValue),
    /// No loaded driver for virtual devices matches this name, here or in a secondary process.
    #[error(
        "there is no driver for device '{0}': its name must begin with that of a driver for virtual devices, as in net_ring0; \
         a driver that is a plug-in of its own is loaded by the EAL's option -d, in secondary processes too"
    )]
    NoDriver(String),
    /// The name is the address of a PCI device.
    #[error(
        "device '{0}' is the address of a PCI device, and only virtual devices can be attached: give it with the EAL's option -a when \
         the program starts (lspci -D lists those of this machine)"
    )]
    NotVirtual(String),
    /// The driver did not create the device, here or in a secondary process.
    #[error(
        "the driver of device '{device}' refuses it: {}: compare the arguments after the name with those that the driver knows; \
         DPDK's log says more", reason(*errno)
    )]
    Driver {
        /// The device, with its arguments.
        device: String,
        /// The driver's result.
        errno: Errno,
    },
    /// A device that combines others has not got all of them: one exists already, or its driver has not created it. The
    /// device was removed again.
    #[error(
        "device '{0}' did not get all devices that it combines: have its arguments create each of them, as in \
         net_failsafe0,dev(net_ring5), and give each a name that no other device's name begins with"
    )]
    Parts(String),
    /// A child process created by `fork` has no devices: they belong to its parent.
    #[error("device '{0}': this process is a fork of the one that initialized the EAL")]
    Forked(String),
    /// A device with this name already exists.
    #[error("device '{0}' already exists: choose another name, or detach it first")]
    Exists(String),
    /// A port of the device was taken, or belongs to another device.
    #[error("device '{device}' is in use: drop its port '{port}' and the port's queues first")]
    InUse {
        /// The device.
        device: String,
        /// Its port.
        port: String,
    },
    /// The device cannot be removed, since a port cannot be closed: `net_memif` with `role=server` would go on to listen for
    /// peers with memory that it has freed.
    #[error(
        "device '{device}' stays until the program ends: its port '{port}' is a server, whose driver cannot close it"
    )]
    Unclosable {
        /// The device.
        device: String,
        /// The port.
        port: String,
    },
    /// DPDK refused. DPDK's log has details.
    #[error("cannot {action} device '{device}': {errno}")]
    Refused {
        /// The device.
        device: String,
        /// `attach` or `detach`.
        action: &'static str,
        /// The name of the DPDK function.
        call: &'static str,
        /// DPDK's error.
        errno: Errno,
    },
}

impl HotplugError {
    /// DPDK's error, if a DPDK call failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        match self {
            Self::Refused { errno, .. } | Self::Driver { errno, .. } => Some(*errno),
            Self::NoDriver(_) => Some(Errno::new(sys::EFAULT.cast_signed())),
            _ => None,
        }
    }

    /// The name of the DPDK function that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        match self {
            Self::Refused { call, .. } => Some(*call),
            Self::Driver { .. } | Self::NoDriver(_) => Some(ADD),
            _ => None,
        }
    }
}

/// Words for a driver's result.
fn reason(errno: Errno) -> String {
    // Many drivers return -1 for any error.
    let vague = errno.get() == sys::EPERM.cast_signed();
    if vague { format!("{errno} (-1, which drivers also return without a reason)") } else { errno.to_string() }
}

/// The DPDK function that creates a device.
const ADD: &str = "rte_eal_hotplug_add";

/// The DPDK function that gives the program a number as an owner of ports.
const OWNER: &str = "rte_eth_dev_owner_new";

/// The maximum length of a device's name in bytes.
const MOST_NAME: usize = sys::RTE_ETH_NAME_MAX_LEN as usize - 1;

/// The prefix of virtual Ethernet devices, which have ports. Others are for cryptography, for example.
const ETHERNET: &str = "net_";

/// The bus of virtual devices.
const BUS: &CStr = c"vdev";

impl Eal {
    /// Creates a virtual device. Returns the ports that nobody has taken yet, including the new one.
    ///
    /// ```no_run
    /// # fn attach(eal: &dpdk_rs::Eal) -> Result<(), dpdk_rs::HotplugError> {
    /// use dpdk_rs::device;
    ///
    /// let ports = eal.attach(device::Tap::new(0).interface("left"))?;
    /// eal.detach("net_tap0")?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Secondary processes get the device too, by a DPDK message that contains the first 122 bytes of its name and
    /// arguments. If one of them fails, or does not answer within 5 s, no process gets the device, and the error is
    /// `ENOMSG` or that of the process. A stopped process delays this call by up to 20 s, and blocks it for ever once
    /// its socket is full; see [`message`](crate::message).
    ///
    /// # Errors
    /// [`HotplugError::Value`] for a value that cannot be passed to DPDK; [`HotplugError::Exists`] for a name in use,
    /// including that of a device whose port was closed but that was not detached; [`HotplugError::NoDriver`] if the
    /// driver is not installed; [`HotplugError::Driver`] if the driver refuses; [`HotplugError::Forked`]; and
    /// [`HotplugError::Refused`] with `ENOMSG` if a secondary process was not reached.
    #[doc(alias = "rte_eal_hotplug_add")]
    pub fn attach(&self, device: impl Into<VirtualDevice>) -> Result<Vec<Port<Unconfigured>>, HotplugError> {
        let device = device.into().to_dpdk()?;
        // SAFETY: the types in `device` have no argument that is an address, or that names what something else owns. Their
        // devices share no memory with other programs. Their values have none of the characters that DPDK separates
        // arguments by.
        unsafe { self.attach_raw(&device) }
    }

    /// Creates a virtual device as [`attach`](Self::attach) does, from text as the EAL's option `--vdev` takes it: a name
    /// that begins with a driver's name, and its arguments, such as `net_virtio_user0,path=/tmp/vhost.sock`.
    ///
    /// # Errors
    /// As for [`attach`](Self::attach), with [`HotplugError::Name`] for a name that cannot be used,
    /// [`HotplugError::NotVirtual`] for the address of a PCI device, and [`HotplugError::Parts`] for a device of
    /// `net_failsafe` that would combine devices that exist already.
    ///
    /// # Safety
    /// Drivers trust their arguments. The caller promises that
    ///
    /// - no argument is an address (`internal` of `net_ring`), or names what something else in this process owns, such as
    ///   a ring (`nodeaction` of `net_ring`);
    /// - the program at the other end of `net_memif`, `net_virtio_user` and similar devices may access this process's
    ///   memory as it likes;
    /// - the driver works as documented with these arguments.
    #[doc(alias = "rte_eal_hotplug_add")]
    pub unsafe fn attach_raw(&self, device: &str) -> Result<Vec<Port<Unconfigured>>, HotplugError> {
        let (name, args) = device.split_once(',').unwrap_or((device, ""));
        if !name.is_ascii() || name.len() > MOST_NAME {
            return Err(HotplugError::Name(device.to_owned()));
        }
        let environment = self.environment();
        with_names(environment, device, &[name, args], |[name, args]| {
            let mut control = environment.control();
            // DPDK would report success.
            if ports::has_port(&name.to_string_lossy(), &control) {
                return Err(HotplugError::Exists(name.to_string_lossy().into_owned()));
            }
            let refused =
                |errno| HotplugError::Refused { device: device.to_owned(), action: "attach", call: OWNER, errno };
            let control = Reservation::new(&mut control).map_err(refused)?;
            let parts = ports::failsafe_parts(&control);
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked; the call copies
            // the strings.
            let add = || unsafe { sys::rte_eal_hotplug_add(BUS.as_ptr(), name.as_ptr(), args.as_ptr()) };
            let result = twice_if_unheard(add);
            environment.ports_have_changed(&control);
            check(device, "attach", ADD, result)
                .map_err(attach_error)
                .inspect_err(|_| remove_rest(&parts, &control))?;
            let own = name.to_string_lossy();
            // DPDK also creates no new port for a device whose port was closed.
            if own.starts_with(ETHERNET) && !ports::has_port(&own, &control) {
                return Err(HotplugError::Exists(own.into_owned()));
            }
            if ports::is_failsafe(&own, &control) && ports::lacks_parts(&control) {
                // The driver would look for them on a thread of its own.
                remove(&name, &control);
                return Err(HotplugError::Parts(device.to_owned()));
            }
            Ok(())
        })?;
        Ok(self.ports())
    }

    /// Removes a virtual device by its name, such as `net_ring1`. All handles of its ports must have been dropped.
    ///
    /// Secondary processes lose the device too, before this process does. Those that have taken its ports with
    /// [`Secondary::ports`](crate::secondary::Secondary::ports) have promised that nobody removes it while they use
    /// them. If a process cannot remove the device, or does not answer, the device stays, as for
    /// [`attach`](Self::attach).
    ///
    /// # Errors
    /// [`HotplugError::InUse`] if one of its ports was taken and still exists, or belongs to another device, such as
    /// `net_bonding0`; [`HotplugError::Unclosable`]; [`HotplugError::Name`]; [`HotplugError::Forked`]; or [`HotplugError::Refused`] with `ENODEV` or
    /// `EINVAL` if the device does not exist.
    #[doc(alias = "rte_eal_hotplug_remove")]
    pub fn detach(&self, device: &str) -> Result<(), HotplugError> {
        let environment = self.environment();
        with_names(environment, device, &[device], |[name]| {
            let mut control = environment.control();
            if let Some(port) = ports::unclosable_of(device, &control) {
                return Err(HotplugError::Unclosable { device: device.to_owned(), port });
            }
            if let Some(port) = ports::in_use_of(device, &control) {
                return Err(HotplugError::InUse { device: device.to_owned(), port });
            }
            let result = remove(&name, &control);
            reservation::renew(&mut control);
            check(device, "detach", "rte_eal_hotplug_remove", result)
        })
    }
}

/// Removes a device of which nobody has a port: none was taken, and as long as the lock is held none can be.
fn remove(name: &CStr, _control: &ControlGuard<'_>) -> i32 {
    // SAFETY: the EAL is initialised, and its control plane is locked. Nobody has a port of the device, as the callers ensure.
    twice_if_unheard(|| unsafe { sys::rte_eal_hotplug_remove(BUS.as_ptr(), name.as_ptr()) })
}

/// Removes what a device of `net_failsafe` has created and, since it has failed, will not use. `parts` are of others.
fn remove_rest(parts: &BTreeSet<String>, control: &ControlGuard<'_>) {
    for part in ports::failsafe_parts(control).difference(parts) {
        remove(&CString::new(part.as_str()).unwrap_or_default(), control);
    }
}

/// Repeats a call that did not reach every secondary process, which DPDK then undoes. DPDK fails on the socket of a
/// killed process, and removes that socket in doing so.
fn twice_if_unheard(call: impl Fn() -> i32) -> i32 {
    match call() {
        result if result == -sys::ENOMSG.cast_signed() => call(),
        result => result,
    }
}

/// Calls `run` with C strings, unless this process is a fork.
fn with_names<const N: usize>(
    environment: &Environment,
    device: &str,
    texts: &[&str; N],
    run: impl FnOnce([CString; N]) -> Result<(), HotplugError>,
) -> Result<(), HotplugError> {
    if environment.is_forked() {
        return Err(HotplugError::Forked(device.to_owned()));
    }
    let strings: Result<Vec<CString>, _> = texts.iter().map(|text| CString::new(*text)).collect();
    match strings.ok().and_then(|strings| strings.try_into().ok()) {
        Some(strings) => run(strings),
        None => Err(HotplugError::Name(device.to_owned())),
    }
}

/// Converts the error of a DPDK call to that of [`Eal::attach`].
fn attach_error(error: HotplugError) -> HotplugError {
    let HotplugError::Refused { device, errno, .. } = &error else { return error };
    let device = device.clone();
    let is = |number: u32| errno.get() == number.cast_signed();
    if is(sys::EFAULT) {
        // No bus of virtual devices has a driver for this name.
        let name = device.split(',').next().unwrap_or_default();
        return if is_pci_address(name) { HotplugError::NotVirtual(device) } else { HotplugError::NoDriver(device) };
    }
    if is(sys::ENOMSG) {
        return error;
    }
    if is(sys::EEXIST) {
        // Only devices without ports reach this line.
        return HotplugError::Exists(device);
    }
    HotplugError::Driver { device, errno: *errno }
}

fn check(device: &str, action: &'static str, call: &'static str, result: i32) -> Result<(), HotplugError> {
    Errno::check(result).map(drop).map_err(|errno| HotplugError::Refused {
        device: device.to_owned(),
        action,
        call,
        errno,
    })
}
