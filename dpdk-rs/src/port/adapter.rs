// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The adapter of a port: its LED, its firmware, and the module that is plugged into it.

use super::{Device, Port, PortError, Started};
use crate::PrivateData;
use core::ffi::{CStr, c_char};
use dpdk_sys as sys;

/// A module that is plugged into a port, such as an SFP+ transceiver; from [`Port::module`].
#[doc(alias = "rte_eth_dev_module_info")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Module {
    /// The standard that defines the layout of [`Self::eeprom`].
    pub standard: ModuleStandard,
    /// The module's memory.
    pub eeprom: Vec<u8>,
}

/// The standard by which a module describes itself, mostly of the SFF Committee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ModuleStandard {
    /// SFF-8079: SFP.
    Sff8079,
    /// SFF-8472: SFP and SFP+, with diagnostics.
    Sff8472,
    /// SFF-8436: QSFP+.
    Sff8436,
    /// SFF-8636: QSFP+ and QSFP28.
    Sff8636,
    /// Another, by DPDK's number.
    Other(u32),
}

impl ModuleStandard {
    const fn new(number: u32) -> Self {
        match number {
            sys::RTE_ETH_MODULE_SFF_8079 => Self::Sff8079,
            sys::RTE_ETH_MODULE_SFF_8472 => Self::Sff8472,
            sys::RTE_ETH_MODULE_SFF_8436 => Self::Sff8436,
            sys::RTE_ETH_MODULE_SFF_8636 => Self::Sff8636,
            other => Self::Other(other),
        }
    }
}

impl Module {
    /// The manufacturer, such as `Intel Corp`; `None` if the module does not contain it.
    #[must_use]
    pub fn vendor(&self) -> Option<String> {
        self.text(20, 148)
    }

    /// The part number; `None` if the module does not contain it.
    #[must_use]
    pub fn part_number(&self) -> Option<String> {
        self.text(40, 168)
    }

    /// The serial number; `None` if the module does not contain it.
    #[must_use]
    pub fn serial_number(&self) -> Option<String> {
        self.text(68, 196)
    }

    /// A text of 16 characters, padded with blanks, at offset `sfp` in an SFP and `qsfp` in a QSFP.
    fn text(&self, sfp: usize, qsfp: usize) -> Option<String> {
        let start = match self.standard {
            ModuleStandard::Sff8079 | ModuleStandard::Sff8472 => sfp,
            ModuleStandard::Sff8436 | ModuleStandard::Sff8636 => qsfp,
            ModuleStandard::Other(_) => return None,
        };
        let bytes = self.eeprom.get(start..start + 16)?;
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_matches(|end: char| end.is_whitespace() || end == '\0');
        (!text.is_empty()).then(|| text.to_owned())
    }
}

impl<P: PrivateData> Port<Started<P>> {
    /// Switches an LED of the adapter on or off, so that somebody can find the adapter.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the device has no such LED, [`PortError::Refused`] if it refuses.
    #[doc(alias = "rte_eth_led_on")]
    #[doc(alias = "rte_eth_led_off")]
    pub fn set_led(&self, on: bool) -> Result<(), PortError> {
        self.device.set_led(on)
    }

    /// The version of the adapter's firmware, in the driver's words.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the driver does not report it, [`PortError::Refused`] if the driver cannot read it.
    #[doc(alias = "rte_eth_dev_fw_version_get")]
    pub fn firmware_version(&self) -> Result<String, PortError> {
        self.device.firmware_version()
    }

    /// The module that is plugged into the port, such as an SFP+ transceiver.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the device does not have modules or its driver cannot read them, [`PortError::Refused`]
    /// if no module is plugged in, or it cannot be read.
    #[doc(alias = "rte_eth_dev_get_module_info")]
    #[doc(alias = "rte_eth_dev_get_module_eeprom")]
    pub fn module(&self) -> Result<Module, PortError> {
        self.device.module()
    }
}

impl Device {
    fn set_led(&self, on: bool) -> Result<(), PortError> {
        let lacking = ("LED that can be switched", "find the adapter by its PCI address");
        let port = self.id().get();
        let _control = self.control()?;
        if on {
            // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked.
            let result = unsafe { sys::rte_eth_led_on(port) };
            self.check_offered("rte_eth_led_on", result, "switch the LED on", lacking)
        } else {
            // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked.
            let result = unsafe { sys::rte_eth_led_off(port) };
            self.check_offered("rte_eth_led_off", result, "switch the LED off", lacking)
        }
    }

    fn firmware_version(&self) -> Result<String, PortError> {
        const CALL: &str = "rte_eth_dev_fw_version_get";
        let _control = self.control()?;
        let mut text: Vec<c_char> = vec![0; 256];
        for _ in 0..2 {
            // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked; the call writes
            // at most as many bytes as the vector has.
            let result = unsafe { sys::rte_eth_dev_fw_version_get(self.id().get(), text.as_mut_ptr(), text.len()) };
            let lacking = ("firmware version to report", "ask the kernel's driver, by ethtool -i");
            self.check_offered(CALL, result, "read the version of the firmware", lacking)?;
            // If the vector is too short, the call returns the number of bytes that it needs.
            let needed = usize::try_from(result).unwrap_or(0);
            if needed <= text.len() {
                break;
            }
            text = vec![0; needed];
        }
        Ok(text_of(&text))
    }

    fn module(&self) -> Result<Module, PortError> {
        let lacking = ("module that its driver can read", "it may have a fixed connector");
        let mut info = sys::rte_eth_dev_module_info::default();
        let port = self.id().get();
        let _control = self.control()?;
        // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked; the call fills a
        // struct of ours.
        let result = unsafe { sys::rte_eth_dev_get_module_info(port, &raw mut info) };
        self.check_offered("rte_eth_dev_get_module_info", result, "see what is plugged in", lacking)?;
        let mut eeprom = vec![0_u8; info.eeprom_len as usize];
        let mut wanted = sys::rte_dev_eeprom_info {
            data: eeprom.as_mut_ptr().cast(),
            length: info.eeprom_len,
            ..sys::rte_dev_eeprom_info::default()
        };
        // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked; the call writes as
        // many bytes as the struct says, and the vector has.
        let result = unsafe { sys::rte_eth_dev_get_module_eeprom(port, &raw mut wanted) };
        self.check_offered("rte_eth_dev_get_module_eeprom", result, "read what is plugged in", lacking)?;
        Ok(Module { standard: ModuleStandard::new(info.type_), eeprom })
    }
}

/// The text in an array that a call has filled, up to its first NUL byte.
pub(super) fn text_of(chars: &[c_char]) -> String {
    let bytes: Vec<u8> = chars.iter().map(|char| char.cast_unsigned()).collect();
    match CStr::from_bytes_until_nul(&bytes) {
        Ok(text) => text.to_string_lossy().into_owned(),
        Err(_) => String::from_utf8_lossy(&bytes).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Module, ModuleStandard, text_of};

    #[test]
    fn a_module_says_who_has_made_it() {
        let mut eeprom = vec![0; 512];
        eeprom[20..36].copy_from_slice(b"Intel Corp      ");
        eeprom[40..56].copy_from_slice(b"FTLX8571D3BCV-IT");
        eeprom[148..164].copy_from_slice(b"Mellanox        ");
        let mut module = Module { standard: ModuleStandard::Sff8472, eeprom };
        let words = |module: &Module| [module.vendor(), module.part_number(), module.serial_number()];
        assert_eq!(words(&module), [Some("Intel Corp".to_owned()), Some("FTLX8571D3BCV-IT".to_owned()), None]);
        module.standard = ModuleStandard::Sff8636;
        assert_eq!(words(&module), [Some("Mellanox".to_owned()), None, None]);
        module.eeprom.truncate(163);
        assert_eq!(words(&module), [None, None, None], "it ends before");
        module.standard = ModuleStandard::Other(9);
        assert_eq!(module.vendor(), None);
    }

    #[test]
    fn numbers_are_those_of_dpdk() {
        use ModuleStandard::{Other, Sff8079, Sff8436, Sff8472, Sff8636};
        assert_eq!([1, 2, 3, 4, 7].map(ModuleStandard::new), [Sff8079, Sff8472, Sff8636, Sff8436, Other(7)]);
    }

    #[test]
    fn text_ends_at_the_first_nul_or_with_the_array() {
        let chars = |text: &[u8]| text_of(&text.iter().map(|byte| byte.cast_signed()).collect::<Vec<_>>());
        assert_eq!((chars(b"3.1\0x"), chars(b"3.1"), chars(b"")), ("3.1".into(), "3.1".into(), String::new()));
    }
}
