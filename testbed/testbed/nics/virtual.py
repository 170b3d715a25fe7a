# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""NICs of virtual machines and clouds."""

from testbed.nics.profile import Descriptors, Profile, Trap

VIRTIO = Profile(
    name="virtio-net (virtio)",
    ids={"1af4:1000": "virtio-net, transitional", "1af4:1041": "virtio-net"},
    driver="net_virtio",
    plugin="net_virtio",
    kernel_driver="virtio-pci",
    is_bifurcated=False,
    speeds_gbps=(),
    rx=Descriptors(32, 32768, 1, 1024),
    tx=Descriptors(32, 32768, 1, 1024),
    queues=1,
    is_virtual=True,
    traps=(
        Trap(
            "behind an emulated IOMMU the device must be told of it (QEMU: disable-legacy=on,iommu_platform=on); "
            "without, a program hangs while it configures the port",
            "virtio 1.1, 6: VIRTIO_F_ACCESS_PLATFORM; tried in QEMU 7.2 with DPDK 22.11",
            check="access_platform",
        ),
        Trap(
            "the hypervisor fixes the queue sizes (QEMU: 256, RX up to 1024 with rx_queue_size): asked for more, the "
            "driver warns and takes what there is",
            "DPDK NIC guide, virtio, Features and Limitations",
        ),
        Trap(
            "as many queues as the hypervisor gives (QEMU: mq=on and queues=N of the back end)",
            "DPDK NIC guide, virtio, Prerequisites for Rx interrupts",
        ),
    ),
)

VMXNET3 = Profile(
    name="VMware vmxnet3 (vmxnet3)",
    ids={"15ad:07b0": "vmxnet3"},
    driver="net_vmxnet3",
    plugin="net_vmxnet3",
    kernel_driver="vmxnet3",
    is_bifurcated=False,
    speeds_gbps=(10,),
    # drivers/net/vmxnet3: VMXNET3_DEF_RX_RING_SIZE, VMXNET3_DEF_TX_RING_SIZE and the most of each.
    rx=Descriptors(128, 4096, 1, 1024),
    tx=Descriptors(512, 4096, 1, 1024),
    queues=1,
    is_virtual=True,
    traps=(
        Trap(
            "QEMU's device reads address 0 as a program lets go of it: the kernel logs 'DMAR: … fault addr 0x0', which "
            "does no harm",
            "tried in QEMU 7.2 with DPDK 22.11",
        ),
        Trap(
            "under 512 TX descriptors the device is refused",
            "DPDK, drivers/net/vmxnet3/vmxnet3_rxtx.c, vmxnet3_dev_tx_queue_setup",
        ),
        Trap(
            "the virtual switch drops frames to other addresses than the port's own: allow promiscuous mode there, and "
            "forged transmits, since l2fwd rewrites the source address",
            "VMware vSphere security, Securing vSphere Standard Switches",
        ),
    ),
)

ENA = Profile(
    name="Amazon ENA (ena)",
    ids={"1d0f:ec20": "ENA VF", "1d0f:ec21": "ENA VF, reserved"},
    driver="net_ena",
    plugin="net_ena",
    kernel_driver="ena",
    is_bifurcated=False,
    speeds_gbps=(),
    # ENA_MIN_RING_DESC of drivers/net/ena/ena_ethdev.c; the device says the most.
    rx=Descriptors(128, None, 1, 1024),
    tx=Descriptors(128, None, 1, 1024),
    queues=1,
    is_virtual=True,
    traps=(
        Trap(
            "on instances that are not .metal there is no IOMMU: vfio-pci needs "
            "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode",
            "DPDK NIC guide, ena, Prerequisites",
            check="no_iommu",
        ),
        Trap(
            "the mainline vfio-pci maps without write combining, which low-latency queues need: follow Amazon's guide, "
            "and never turn them off (enable_llq=0) on 6th-generation instances",
            "DPDK NIC guide, ena, Prerequisites; Runtime Configuration",
        ),
        Trap(
            "the network forwards by IP address and only unicast IP: what l2fwd sends to 02:00:00:00:00:<port> arrives "
            "nowhere. Measure the receive side, or between instances with a generator that speaks IP",
            "ipSpace.net, Packet Forwarding in Amazon VPC",
        ),
        Trap(
            "a single flow gets 5 Gbit/s at most, within a cluster placement group 10: measure with many flows",
            "Amazon EC2 user guide, Instance network bandwidth",
        ),
    ),
)
