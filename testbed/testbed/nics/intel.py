# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Intel's NICs."""

from testbed.nics.profile import Descriptors, Profile, Trap

_I40E = "DPDK NIC guide, i40e"
_ICE = "DPDK NIC guide, ice"
_IXGBE = "DPDK NIC guide, ixgbe"
_AVX512 = Trap(
    "AVX-512 paths of the driver are off until --force-max-simd-bitwidth=512 is given, whatever the CPU has",
    "DPDK how-to guide, Using AVX-512",
)

# drivers/net/i40e/i40e_rxtx.h, drivers/net/ice/ice_rxtx.h: 64 to 4096, whole 32s.
_E700 = Descriptors(64, 4096, 32, 2048)


def _profile(
    name: str,
    ids: dict[str, str],
    kernel_driver: str,
    speeds_gbps: tuple[int, ...],
    rings: Descriptors,
    traps: tuple[Trap, ...],
) -> Profile:
    """One whose driver in DPDK has the name of the kernel's."""
    driver = f"net_{kernel_driver}"
    return Profile(
        name=name,
        ids=ids,
        driver=driver,
        plugin=driver,
        kernel_driver=kernel_driver,
        is_bifurcated=False,
        speeds_gbps=speeds_gbps,
        rx=rings,
        tx=rings,
        queues=1,
        traps=traps,
    )


_I40E_TRAPS = (
    Trap(
        "old firmware costs rate with small frames: compare it with the list of the DPDK release in use",
        f"{_I40E}, High Performance of Small Packets",
    ),
    Trap(
        "a 40-GbE port needs two queue pairs on two cores for small frames, and two such ports need two slots",
        f"{_I40E}, Example of getting best performance",
    ),
    Trap(
        "the driver writes registers that all ports of the card share: a port that the kernel keeps feels it. "
        "support-multi-driver=1 leaves them alone",
        f"{_I40E}, Support multiple driver; Global configuration warning",
    ),
    Trap(
        "frames longer than the MTU allows are dropped but counted as received",
        f"{_I40E}, Incorrect Rx statistics when packet is oversize",
    ),
    _AVX512,
)

X710 = _profile(
    "Intel X710/XL710 (i40e)",
    {
        "8086:1572": "X710 SFP+",
        "8086:1581": "X710 backplane",
        "8086:1583": "XL710 QSFP+",
        "8086:1584": "XL710 QSFP+",
        "8086:1585": "X710 QSFP+",
        "8086:1586": "X710 10GBASE-T",
        "8086:1589": "X710 10GBASE-T4",
    },
    "i40e",
    (10, 40),
    _E700,
    _I40E_TRAPS,
)

XXV710 = _profile(
    "Intel XXV710 (i40e)",
    {"8086:158a": "XXV710 backplane", "8086:158b": "XXV710 SFP28"},
    "i40e",
    (25,),
    _E700,
    _I40E_TRAPS,
)

E810 = _profile(
    "Intel E810 (ice)",
    {
        "8086:1591": "E810-C backplane",
        "8086:1592": "E810-C QSFP",
        "8086:1593": "E810-C SFP",
        "8086:1599": "E810-XXV backplane",
        "8086:159a": "E810-XXV QSFP",
        "8086:159b": "E810-XXV SFP",
    },
    "ice",
    (100, 25),
    _E700,
    (
        Trap(
            "without its DDP package in /lib/firmware/intel/ice/ddp (or updates/ before it) the port does not start; "
            "safe-mode-support=1 lets it, without RSS: one queue",
            f"{_ICE}, Safe Mode Support; Limitations",
            check="ddp",
        ),
        Trap(
            "a frame sent to the port's own MAC address counts as malicious and is dropped: destinations of l2fwd are "
            "02:00:00:00:00:<port>, so do not give a port such an address",
            f"{_ICE}, Malicious driver detection",
        ),
        Trap(
            "driver, firmware and DDP package belong together: compare them with the list of the DPDK release in use",
            f"{_ICE}, Kernel driver, DDP and Firmware Matching List",
        ),
        _AVX512,
    ),
)

# drivers/net/ixgbe/ixgbe_rxtx.h: 32 to 4096, whole 8s (128 bytes of 16-byte descriptors).
_82599 = Descriptors(32, 4096, 8, 1024)

X520 = _profile(
    "Intel X520/82599 (ixgbe)",
    {"8086:10fb": "82599ES SFP+", "8086:154d": "X520 SFP+", "8086:1558": "X520-4", "8086:151c": "82599 10GBASE-T"},
    "ixgbe",
    (10,),
    _82599,
    (
        Trap(
            "the vector path returns nothing for receive bursts under 32 frames: leave --burst at 32 or more",
            f"{_IXGBE}, RX Burst Size",
        ),
        Trap(
            "the device's counters saturate if they are not read for over 4 minutes at line rate: "
            "l2fwd's statistics every 10 s do it, -T 0 does not",
            f"{_IXGBE}, Statistics",
        ),
        Trap(
            "the kernel's driver refuses optical modules of other makers without its parameter allow_unsupported_sfp=1",
            "Linux kernel, Documentation/networking/device_drivers/ethernet/intel/ixgbe.rst",
        ),
    ),
)

# drivers/net/e1000/em_rxtx.c: 32 to 4096, whole 8s. What QEMU emulates, and what the rehearsal runs on.
E1000 = Profile(
    name="Intel 82540EM, 82545EM, 82574L (e1000)",
    ids={"8086:100e": "82540EM", "8086:100f": "82545EM", "8086:10d3": "82574L"},
    driver="net_e1000_em",
    plugin="net_e1000",
    kernel_driver="e1000, e1000e",
    is_bifurcated=False,
    speeds_gbps=(1,),
    rx=_82599,
    tx=_82599,
    queues=1,
    traps=(
        Trap(
            "with link interrupts a change of the link goes unnoticed; the forwarders ask for the link once a second",
            "tried in QEMU 7.2 with DPDK 22.11",
        ),
    ),
)

# drivers/net/e1000/igb_rxtx.c has the same limits.
IGB = Profile(
    name="Intel 82576, I350, I210 (igb)",
    ids={"8086:10c9": "82576", "8086:1521": "I350", "8086:1533": "I210"},
    driver="net_e1000_igb",
    plugin="net_e1000",
    kernel_driver="igb",
    is_bifurcated=False,
    speeds_gbps=(1,),
    rx=_82599,
    tx=_82599,
    queues=1,
)
