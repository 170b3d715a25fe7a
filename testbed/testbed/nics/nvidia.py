# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""NVIDIA's (Mellanox's) NICs: DPDK shares them with the kernel, so they are never bound to vfio-pci."""

from testbed.nics.profile import Descriptors, Profile, Trap

_MLX5 = "DPDK NIC guide, mlx5"
# The driver reports no limits of its own; the hardware's show at queue set-up.
_RINGS = Descriptors(1, None, 1, 1024)

_TRAPS = (
    Trap(
        "the device stays with mlx5_core: bound to vfio-pci DPDK has no port. It needs rdma-core (libibverbs, libmlx5) "
        "and the module mlx5_ib",
        f"{_MLX5}, Design; DPDK platform guide, mlx5",
        check="mlx5_ib",
    ),
    Trap(
        "the kernel's interface stays and has the MTU and the link: an MTU or a link that is set with ip counts for "
        "DPDK too, and while DPDK runs the kernel no longer gets unicast frames to the same address",
        f"{_MLX5}, Design",
    ),
    Trap(
        "many TX descriptors and inlined data share one limit of the hardware: if queue set-up fails, ask for fewer "
        "with --txd, or set txq_inline_max and txq_inline_mpw lower",
        f"{_MLX5}, Limitations",
    ),
    Trap(
        "mprq_en=1 saves PCIe bandwidth with small frames, but only from rxqs_min_mprq queues on (12): give "
        "rxqs_min_mprq=1 with it",
        f"{_MLX5}, Run-time configuration",
    ),
    Trap(
        "it is not among the drivers of the static build: use the forwarder with DPDK's shared libraries",
        "dpdk-sys/build/link.rs",
    ),
)


def _profile(name: str, ids: dict[str, str], speeds_gbps: tuple[int, ...]) -> Profile:
    return Profile(
        name=name,
        ids=ids,
        driver="mlx5_eth",
        plugin="net_mlx5",
        kernel_driver="mlx5_core",
        is_bifurcated=True,
        speeds_gbps=speeds_gbps,
        rx=_RINGS,
        tx=_RINGS,
        queues=1,
        device_arguments=("mprq_en=1", "rxqs_min_mprq=1"),
        traps=_TRAPS,
    )


CONNECTX5 = _profile(
    "NVIDIA ConnectX-5 (mlx5)",
    {"15b3:1017": "ConnectX-5", "15b3:1018": "ConnectX-5 VF", "15b3:1019": "ConnectX-5 Ex", "15b3:101a": "5 Ex VF"},
    (100, 25),
)
CONNECTX6 = _profile(
    "NVIDIA ConnectX-6 (mlx5)",
    {
        "15b3:101b": "ConnectX-6",
        "15b3:101c": "ConnectX-6 VF",
        "15b3:101d": "ConnectX-6 Dx",
        "15b3:101e": "ConnectX VF",
        "15b3:101f": "ConnectX-6 Lx",
    },
    (200, 100, 25),
)
CONNECTX7 = _profile("NVIDIA ConnectX-7 (mlx5)", {"15b3:1021": "ConnectX-7"}, (400, 200, 100))
