// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Meters color the packets of a flow: green within the committed limits, yellow beyond them, and red beyond the second
//! limit too.
//!
//! | | source | parameters |
//! |---|---|---|
//! | [`SrTcm`] | RFC 2697 | one rate, with a committed and an excess burst |
//! | [`TrTcm`] | RFC 2698 | a committed rate and a peak rate, which limits green and yellow packets together |
//! | [`TrTcm4115`] | RFC 4115 | a committed rate and a separate excess rate |
//!
//! Rates are in bytes per second and bursts in bytes, both of IP packets: without Ethernet header and FCS. A meter is a
//! few numbers, used by one thread at a time. The caller passes the time, so that one reading of the clock serves a
//! whole burst.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (eal, _args) = dpdk_rs::Eal::init(dpdk_rs::EalOptions::from_command_line())?;
//! # let mut burst = dpdk_rs::Burst::<(), 32>::new();
//! use dpdk_rs::meter::{Color, SrTcm, SrTcmParams};
//!
//! let clock = eal.clock();
//! let agreed = SrTcmParams { cir: 1_000_000, cbs: 15_000, ebs: 30_000 };
//! let mut meter = SrTcm::new(&eal, agreed, clock.now())?;
//! let now = clock.now();
//! burst.retain(|packet| meter.color(now, packet.len().saturating_sub(14), Color::Green) != Color::Red);
//! # Ok(())
//! # }
//! ```

use crate::{Eal, Tsc};
use core::fmt;
use dpdk_sys as sys;

/// DPDK multiplies a rate by the cycles of a period in 64 bits, and divides by the result.
const MOST: u64 = 1 << 40;

/// The color of a packet (DPDK's `rte_color`).
#[doc(alias = "rte_color")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Color {
    /// Within the committed rate and burst.
    Green,
    /// Beyond the committed rate and burst, but within the second limit.
    Yellow,
    /// Beyond both limits.
    Red,
}

impl Color {
    const fn number(self) -> sys::rte_color {
        match self {
            Self::Green => sys::RTE_COLOR_GREEN,
            Self::Yellow => sys::RTE_COLOR_YELLOW,
            Self::Red => sys::RTE_COLOR_RED,
        }
    }

    const fn of(number: sys::rte_color) -> Self {
        match number {
            sys::RTE_COLOR_GREEN => Self::Green,
            sys::RTE_COLOR_YELLOW => Self::Yellow,
            _ => Self::Red,
        }
    }
}

/// Why a meter was not created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MeterError {
    /// A rate or a burst is too large for DPDK's arithmetic.
    #[error("{name} {value}: give at most 2^40, which is 8.8 Tbit/s or 1 TiB")]
    TooLarge {
        /// The name of the parameter.
        name: &'static str,
        /// Its value.
        value: u64,
    },
    /// The parameters contradict each other: a rate without a burst, no rate at all, or a peak rate below the committed
    /// one.
    #[error(
        "these parameters do not describe a meter: give rates above 0, a burst for each, and a peak rate not below the committed one"
    )]
    Invalid,
}

/// Declares a meter: its parameters, and its state, in which the fields of `times` are times.
macro_rules! meter {
    (
        $(#[$doc:meta])* $name:ident, $(#[$params_doc:meta])* $params:ident { $($(#[$field_doc:meta])* $field:ident),+ },
        $raw:ident, $raw_params:ident, $profile:ident, times: $($time:ident),+;
        $configure:ident, $start:ident, $check:ident
    ) => {
        $(#[$params_doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $params {
            $($(#[$field_doc])* pub $field: u64,)+
        }

        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name {
            params: $params,
            profile: sys::$profile,
            state: sys::$raw,
        }

        impl $name {
            /// Creates a meter whose bursts are full at `now`.
            ///
            /// # Errors
            /// See [`MeterError`].
            pub fn new(_eal: &Eal, params: $params, now: Tsc) -> Result<Self, MeterError> {
                $(if params.$field > MOST {
                    return Err(MeterError::TooLarge { name: stringify!($field), value: params.$field });
                })+
                let mut raw = sys::$raw_params { $($field: params.$field),+ };
                let mut profile = sys::$profile::default();
                // SAFETY: the EAL is initialised, since the caller holds an `Eal`, so DPDK knows the clock. The call
                // reads and writes structs of ours.
                if unsafe { sys::$configure(&raw mut profile, &raw mut raw) } != 0 {
                    return Err(MeterError::Invalid);
                }
                let mut state = sys::$raw::default();
                // SAFETY: the call reads and writes structs of ours. It fails only for null pointers.
                unsafe { sys::$start(&raw mut state, &raw mut profile) };
                $(state.$time = now.cycles();)+
                Ok(Self { params, profile, state })
            }

            /// The parameters that the meter was created with.
            #[must_use]
            pub const fn params(&self) -> $params {
                self.params
            }

            /// Colors a packet of `len` bytes at `now`. `color` is its color so far: green for a packet that has none.
            /// The color never improves. A time before that of an earlier packet counts as the time of that packet.
            pub fn color(&mut self, now: Tsc, len: usize, color: Color) -> Color {
                let now = now.cycles()$(.max(self.state.$time))+;
                let len = u32::try_from(len).unwrap_or(u32::MAX);
                // SAFETY: the call reads and writes structs of ours, in which no period is 0.
                Color::of(unsafe { sys::$check(&raw mut self.state, &raw mut self.profile, now, len, color.number()) })
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("params", &self.params).finish_non_exhaustive()
            }
        }
    };
}

meter! {
    /// A single-rate three-color meter (RFC 2697): tokens that overflow the committed burst fill the excess burst.
    #[doc(alias = "rte_meter_srtcm")]
    SrTcm,
    /// The parameters of an [`SrTcm`]. At least one of the bursts is above 0.
    #[doc(alias = "rte_meter_srtcm_params")]
    SrTcmParams {
        /// The committed rate, in bytes per second.
        cir,
        /// The committed burst, in bytes.
        cbs,
        /// The excess burst, in bytes.
        ebs
    },
    rte_meter_srtcm, rte_meter_srtcm_params, rte_meter_srtcm_profile, times: time;
    rte_meter_srtcm_profile_config, rte_meter_srtcm_config, rte_meter_srtcm_color_aware_check
}

meter! {
    /// A two-rate three-color meter (RFC 2698): a green packet counts toward the peak rate too.
    #[doc(alias = "rte_meter_trtcm")]
    TrTcm,
    /// The parameters of a [`TrTcm`]. All are above 0, and the peak rate is not below the committed one.
    #[doc(alias = "rte_meter_trtcm_params")]
    TrTcmParams {
        /// The committed rate, in bytes per second.
        cir,
        /// The peak rate, in bytes per second.
        pir,
        /// The committed burst, in bytes.
        cbs,
        /// The peak burst, in bytes.
        pbs
    },
    rte_meter_trtcm, rte_meter_trtcm_params, rte_meter_trtcm_profile, times: time_tc, time_tp;
    rte_meter_trtcm_profile_config, rte_meter_trtcm_config, rte_meter_trtcm_color_aware_check
}

meter! {
    /// A two-rate three-color meter (RFC 4115) with independent rates.
    #[doc(alias = "rte_meter_trtcm_rfc4115")]
    TrTcm4115,
    /// The parameters of a [`TrTcm4115`]. A rate above 0 has a burst above 0.
    #[doc(alias = "rte_meter_trtcm_rfc4115_params")]
    TrTcm4115Params {
        /// The committed rate, in bytes per second.
        cir,
        /// The excess rate, in bytes per second.
        eir,
        /// The committed burst, in bytes.
        cbs,
        /// The excess burst, in bytes.
        ebs
    },
    rte_meter_trtcm_rfc4115, rte_meter_trtcm_rfc4115_params, rte_meter_trtcm_rfc4115_profile, times: time_tc, time_te;
    rte_meter_trtcm_rfc4115_profile_config, rte_meter_trtcm_rfc4115_config, rte_meter_trtcm_rfc4115_color_aware_check
}
