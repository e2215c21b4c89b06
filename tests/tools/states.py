#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the files that rdmaez-explain --json would have written for a job: states.py DIRECTORY SCRIPT.

SCRIPT is Python, and begins with mesh(), ring() or another of the functions here; rank n's file is DIRECTORY/n.json.
Eight ranks are on a host, and use its one device.
"""

import json
import pathlib
import sys

RANKS = []  # the state of each
LINES = {}  # rank: other lines, in front of its state


def gid(host):
    """The GID of a host's device."""
    return f'::ffff:10.0.{host // 200}.{host % 200 + 1}'


def number(rank, peer):
    """The number of the queue pair of a rank that is for a peer."""
    return rank % 8 * 2048 + peer + 17


def process(rank, ranks):
    """A rank without queue pairs."""
    host = rank // 8
    return {'program': 'worker', 'pid': 1000 + rank, 'kind': 'state', 'host': f'node{host}',
            'time': f'2026-01-31T12:00:{rank // 1000:02}.{rank % 1000:03}Z', 'reason': 'request',
            'boot_id': f'boot{host}', 'rank': rank, 'ranks': ranks,
            'ports': [{'device': 'mlx5_0', 'port': 1, 'link_layer': 'Ethernet', 'active_mtu': 4096}],
            'gids': [{'device': 'mlx5_0', 'port': 1, 'gid_index': 3, 'gid': gid(host), 'gid_type': 'RoCE v2'},
                     {'device': 'mlx5_0', 'port': 1, 'gid_index': 1, 'gid': f'fe80::{host + 1:x}', 'gid_type': 'RoCE v2'}],
            'qps': []}


def sample(rank=0, peer=1):
    """One end of a connection."""
    return {
        'device': 'mlx5_0', 'driver': 'mlx5_core', 'port': 1, 'qp_num': number(rank, peer), 'type': 'RC', 'state': 'RTS',
        'dest_qp_num': number(peer, rank), 'sq_psn': rank * 2000 + peer, 'rq_psn': peer * 2000 + rank, 'gid_index': 3,
        'gid': gid(rank // 8), 'gid_type': 'RoCE v2', 'peer_gid': gid(peer // 8), 'path_mtu': 4096, 'active_mtu': 4096,
        'timeout': 14, 'retry_cnt': 7, 'rnr_retry': 7, 'min_rnr_timer': 12, 'max_rd_atomic': 16,
        'max_dest_rd_atomic': 16, 'pkey': 65535, 'pkey_index': 0, 'access': 7, 'traffic_class': 106, 'sl': 3,
        'lossless': 8, 'vlan': 0, 'send_cq': 1, 'recv_cq': 1, 'sends_posted': 100, 'sends_signaled': 100, 'sends_completed': 100,
        'recvs_posted': 116, 'recvs_completed': 100, 'idle_ms': 0}


def job(ranks, peers):
    """So many ranks, each with the peers that the function gives."""
    RANKS.extend(process(rank, ranks) for rank in range(ranks))
    for rank in range(ranks):
        for peer in peers(rank):
            RANKS[rank]['qps'].append(sample(rank, peer))


def mesh(ranks):
    """Each with each."""
    job(ranks, lambda rank: [peer for peer in range(ranks) if peer != rank])


def ring(ranks):
    """Each with the two beside it."""
    job(ranks, lambda rank: [(rank - 1) % ranks, (rank + 1) % ranks])


def star(ranks):
    """Rank 0 with each."""
    job(ranks, lambda rank: [0] if rank else range(1, ranks))


def near(ranks, most):
    """Each with so many that follow, and so many before."""
    steps = [step for step in range(-most, most + 1) if step]
    job(ranks, lambda rank: sorted((rank + step) % ranks for step in steps))


def qp(rank, peer):
    """The queue pair of a rank that is for a peer."""
    return next(found for found in RANKS[rank]['qps'] if found['qp_num'] == number(rank, peer))


def each():
    """All queue pairs."""
    return [found for state in RANKS for found in state['qps']]


def mine(rank):
    """Those of a rank."""
    return RANKS[rank]['qps']


def still(seconds=42):
    """Nothing moves any more."""
    for found in each():
        found['idle_ms'] = seconds * 1000


def sends(rank, peer, opcode='IBV_WR_SEND'):
    """A request of a rank waits for a peer."""
    qp(rank, peer).update(sends_posted=101, sends_signaled=101, oldest_opcode=opcode, oldest_ms=42000)


def reads():
    """Rank 0 reads 4096 bytes of rank 1's region()."""
    sends(0, 1, 'IBV_WR_RDMA_READ')
    qp(0, 1).update(oldest_rkey=0x1234, oldest_addr=0x7f0000001000, oldest_length=4096)


def region(**changes):
    """A region of 4096 bytes that may be read and written."""
    return {'device': 'mlx5_0', 'rkey': 0x1234, 'addr': 0x7f0000001000, 'length': 4096, 'access': 7, **changes}


def rails(ranks=16):
    """Each rank with the one at its place on the other host; the odd ones by a device of their own."""
    job(ranks, lambda rank: [(rank + ranks // 2) % ranks])
    for found in each():
        if found['qp_num'] // 2048 % 2:
            found['device'] = 'mlx5_1'


def hungry(rank, peer):
    """A rank has no receive left for a peer."""
    qp(rank, peer).update(recvs_posted=100)


def unconnected(rank, peer):
    """A rank's queue pair that has only come as far as INIT."""
    found = qp(rank, peer)
    for member in ('dest_qp_num', 'sq_psn', 'rq_psn', 'gid', 'gid_index', 'gid_type', 'peer_gid', 'path_mtu', 'timeout',
                   'retry_cnt', 'rnr_retry', 'min_rnr_timer', 'max_rd_atomic', 'max_dest_rd_atomic', 'traffic_class',
                   'lossless', 'vlan', 'sl'):
        del found[member]
    found['state'] = 'INIT'


def main():
    """Run the script, and write what it made."""
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir()
    exec(sys.argv[2], globals())  # pylint: disable=exec-used
    for rank, state in enumerate(RANKS):
        if state is None:
            continue
        lines = LINES.get(rank, []) + [json.dumps(state, separators=(',', ':'))]
        (directory / f'{rank}.json').write_text(''.join(line + '\n' for line in lines), encoding='utf-8')


main()
