// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Virtual devices that come and go while the program runs.

use crate::{
    Eal, Errno, Port,
    eal::Environment,
    port::{Unconfigured, is_pci_address},
};
use dpdk_sys as sys;
use std::ffi::CString;

/// Why a device was not attached or detached.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HotplugError {
    /// The text has a NUL byte, or a name that is too long or not of ASCII characters, which DPDK's telemetry reads wrong.
    #[error(
        "device {0:?} cannot be used: give a name of at most {MOST_NAME} characters, all of ASCII, and no NUL byte"
    )]
    Name(String),
    /// No driver of virtual devices that was loaded has this name, here or in a secondary process.
    #[error(
        "there is no driver for device '{0}': its name has to begin with that of a driver of virtual devices, as net_ring0 does; \
         a driver that is a plug-in of its own is loaded by the EAL's option -d, in secondary processes too"
    )]
    NoDriver(String),
    /// The name is the address of a PCI device.
    #[error(
        "device '{0}' is the address of a PCI device, and only virtual devices come and go: name it by the EAL's option -a when \
         the program starts (lspci -D lists those of this machine)"
    )]
    NotVirtual(String),
    /// The driver did not make the device, here or in a secondary process.
    #[error(
        "the driver of device '{device}' refuses it: {}: compare what is behind the name with the arguments that the driver knows; \
         DPDK's log says more", reason(*errno)
    )]
    Driver {
        /// The device, with its arguments.
        device: String,
        /// What the driver returned.
        errno: Errno,
    },
    /// A child made by `fork` has no devices: they are its parent's.
    #[error("device '{0}': this process is a fork of the one that initialized the EAL")]
    Forked(String),
    /// There is a device of this name.
    #[error("device '{0}' is there already: choose another name, or detach it first")]
    Exists(String),
    /// A port of the device has been taken, or belongs to another device.
    #[error("device '{device}' is in use: drop its port '{port}' and the port's queues first")]
    InUse {
        /// The device.
        device: String,
        /// Its port.
        port: String,
    },
    /// DPDK refused; its log says more.
    #[error("cannot {action} device '{device}': {errno}")]
    Refused {
        /// The device.
        device: String,
        /// `attach` or `detach`.
        action: &'static str,
        /// The call of DPDK.
        call: &'static str,
        /// DPDK's error.
        errno: Errno,
    },
}

impl HotplugError {
    /// DPDK's error, if a call of DPDK failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        match self {
            Self::Refused { errno, .. } | Self::Driver { errno, .. } => Some(*errno),
            Self::NoDriver(_) => Some(Errno::new(sys::EFAULT.cast_signed())),
            _ => None,
        }
    }

    /// The name of the call of DPDK that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        match self {
            Self::Refused { call, .. } => Some(*call),
            Self::Driver { .. } | Self::NoDriver(_) => Some(ADD),
            _ => None,
        }
    }
}

/// The words for what a driver has returned.
fn reason(errno: Errno) -> String {
    // Many return -1 whatever has happened.
    let vague = errno.get() == sys::EPERM.cast_signed();
    if vague { format!("{errno} (-1, which drivers also say without a reason)") } else { errno.to_string() }
}

/// The call of DPDK that makes a device.
const ADD: &str = "rte_eal_hotplug_add";

/// The most bytes of a device's name.
const MOST_NAME: usize = sys::RTE_ETH_NAME_MAX_LEN as usize - 1;

/// What the names of virtual Ethernet devices begin with, which have ports; others are of cryptography or the like.
const ETHERNET: &str = "net_";

/// The bus of virtual devices.
const BUS: &core::ffi::CStr = c"vdev";

impl Eal {
    /// Makes a virtual device as the EAL's option `--vdev` does, from the same text: a name that begins with that of a driver,
    /// and its arguments, such as `net_ring1` or `net_tap0,iface=dtap0`. Returns the ports that nobody has taken yet, the new
    /// ones among them. What the text says is trusted, as the EAL's command line is.
    ///
    /// Secondary processes get the device too, by a message of DPDK's: its first 122 bytes. If one does not, or does not answer
    /// within 5 s, nobody gets it, and the error is `ENOMSG` or that of the process. One that is stopped keeps this waiting for up to
    /// 20 s, and for ever once its socket is full, see [`message`](crate::message).
    ///
    /// # Errors
    /// [`HotplugError::Exists`] for a name that is in use, also by a device whose port was closed and that was not detached;
    /// [`HotplugError::NoDriver`] and [`HotplugError::NotVirtual`] for a name that is of no virtual device, [`HotplugError::Driver`] if
    /// its driver refuses, as for arguments that it does not know; [`HotplugError::Name`], [`HotplugError::Forked`]; and
    /// [`HotplugError::Refused`] (`ENOMSG`) if secondary processes were not reached.
    #[doc(alias = "rte_eal_hotplug_add")]
    pub fn attach(&self, device: &str) -> Result<Vec<Port<Unconfigured>>, HotplugError> {
        let (name, args) = device.split_once(',').unwrap_or((device, ""));
        if !name.is_ascii() || name.len() > MOST_NAME {
            return Err(HotplugError::Name(device.to_owned()));
        }
        let environment = self.environment();
        with_names(environment, device, &[name, args], |[name, args]| {
            let control = environment.control();
            // DPDK would call that a success.
            if crate::port::has_port(&name.to_string_lossy(), &control) {
                return Err(HotplugError::Exists(name.to_string_lossy().into_owned()));
            }
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked; the call copies
            // the strings.
            let add = || unsafe { sys::rte_eal_hotplug_add(BUS.as_ptr(), name.as_ptr(), args.as_ptr()) };
            let result = twice_if_unheard(add);
            environment.ports_have_changed(&control);
            check(device, "attach", ADD, result).map_err(attach_error)?;
            let name = name.to_string_lossy();
            // Nor does it make a port again for a device whose port was closed.
            if name.starts_with(ETHERNET) && !crate::port::has_port(&name, &control) {
                return Err(HotplugError::Exists(name.into_owned()));
            }
            Ok(())
        })?;
        Ok(self.ports())
    }

    /// Removes a virtual device by its name, such as `net_ring1`. All handles of its ports must be gone.
    ///
    /// Secondary processes lose it too, and before this one: those that have asked for its ports with
    /// [`Secondary::ports`](crate::secondary::Secondary::ports) have promised that nobody removes it meanwhile. If one cannot, or does
    /// not answer, the device stays, as for [`attach`](Self::attach).
    ///
    /// # Errors
    /// [`HotplugError::InUse`] if a port of it was taken and is still there, or belongs to another device, such as
    /// `net_bonding0`; [`HotplugError::Name`], [`HotplugError::Forked`], or [`HotplugError::Refused`]: `ENODEV` or `EINVAL` if
    /// there is no such device.
    #[doc(alias = "rte_eal_hotplug_remove")]
    pub fn detach(&self, device: &str) -> Result<(), HotplugError> {
        let environment = self.environment();
        with_names(environment, device, &[device], |[name]| {
            let control = environment.control();
            if let Some(port) = crate::port::in_use_of(device, &control) {
                return Err(HotplugError::InUse { device: device.to_owned(), port });
            }
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked. Nobody has a port of
            // the device: none was taken, and as long as the lock is held none can be.
            let remove = || unsafe { sys::rte_eal_hotplug_remove(BUS.as_ptr(), name.as_ptr()) };
            check(device, "detach", "rte_eal_hotplug_remove", twice_if_unheard(remove))
        })
    }
}

/// Does it a second time if not every secondary process was reached: DPDK undoes it then. It stumbles over the socket of one that was
/// killed, and removes that at the same time.
fn twice_if_unheard(call: impl Fn() -> i32) -> i32 {
    match call() {
        result if result == -sys::ENOMSG.cast_signed() => call(),
        result => result,
    }
}

/// Calls `run` with strings for C, unless this process is a fork.
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

/// The error of [`Eal::attach`] for what its call of DPDK has returned.
fn attach_error(error: HotplugError) -> HotplugError {
    let HotplugError::Refused { device, errno, .. } = &error else { return error };
    let device = device.clone();
    let is = |number: u32| errno.get() == number.cast_signed();
    if is(sys::EFAULT) {
        // No bus of virtual devices has a driver of this name.
        let name = device.split(',').next().unwrap_or_default();
        return if is_pci_address(name) { HotplugError::NotVirtual(device) } else { HotplugError::NoDriver(device) };
    }
    if is(sys::ENOMSG) {
        return error;
    }
    if is(sys::EEXIST) {
        // Only devices without ports come here.
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
