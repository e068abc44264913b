"""Owns the services that the remote tests need: sshd with two users, and Slurm with one node, on the loopback interface alone."""

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

USERS = {"one": "inkling-one", "two": "inkling-two"}


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait(done, seconds, what):
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} within {seconds} s")
        time.sleep(0.2)


def start_sshd(folder):
    """Starts it; `ssh one` and `ssh two` then reach this machine as two users. Returns the process."""
    folder = Path(folder)
    port = free_port()
    for key in ("host", "user"):
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key))
    for user in USERS.values():
        if subprocess.run(["id", user], capture_output=True).returncode:
            run("useradd", "--create-home", "--shell", "/bin/sh", user)
        # Without a password, but not locked.
        run("usermod", "--password", "*", user)
        shutil.rmtree(f"/home/{user}/.local", ignore_errors=True)
    authorized = folder / "authorized_keys"
    shutil.copy(folder / "user.pub", authorized)
    authorized.chmod(0o644)
    (folder / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile none\nUsePAM no\nPasswordAuthentication no\n"
        f"StrictModes no\nAuthorizedKeysFile {authorized}\n")
    hosts = "".join(f"Host {host}\n  User {user}\n" for host, user in USERS.items())
    (folder / "ssh_config").write_text(
        f"{hosts}Host one two\n  HostName 127.0.0.1\n  Port {port}\nHost one two 127.0.0.1\n  IdentityFile {folder}/user\n  IdentitiesOnly yes\n"
        f"  StrictHostKeyChecking no\n  UserKnownHostsFile {folder}/known_hosts\n  LogLevel ERROR\n")
    # What a person has in ~/.ssh/config: OpenSSH looks for that in the home folder of the user's account alone.
    shim = folder / "bin" / "ssh"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/ssh_config "$@"\n')
    shim.chmod(0o755)
    os.environ["PATH"] = f"{shim.parent}:{os.environ['PATH']}"
    Path("/run/sshd").mkdir(exist_ok=True)
    sshd = subprocess.Popen(["/usr/sbin/sshd", "-D", "-e", "-f", str(folder / "sshd_config")], stderr=subprocess.DEVNULL)
    wait(lambda: subprocess.run(["ssh", "one", "true"], capture_output=True).returncode == 0, 20, "sshd does not answer")
    return sshd


def start_slurm(folder):
    """Starts munge, slurmctld and slurmd; `SLURM_CONF` then leads to a cluster of one node. Returns the processes."""
    folder = Path(folder) / "slurm"
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    name, ports = socket.gethostname().split(".")[0], (free_port(), free_port())
    conf = folder / "slurm.conf"
    conf.write_text(f"""ClusterName=inkling
SlurmctldHost={name}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
ReturnToService=2
MpiDefault=none
KillWait=5
NodeName={name} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} State=UNKNOWN
PartitionName=all Nodes={name} Default=YES MaxTime=INFINITE State=UP
""")
    os.environ["SLURM_CONF"] = str(conf)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    files = [f"--pid-file={folder}/munge.pid", f"--log-file={folder}/munge.log", f"--seed-file={folder}/munge.seed", f"--socket={folder}/munge.socket"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    processes = [subprocess.Popen(["munged", "--foreground", "--force", f"--key-file={key}", *files], **quiet)]
    wait(lambda: (folder / "munge.socket").exists(), 20, "munged does not listen")
    processes += [subprocess.Popen([f"/usr/sbin/{daemon}", "-D", "-f", str(conf)], **quiet) for daemon in ("slurmctld", "slurmd")]
    wait(lambda: "idle" in subprocess.run(["sinfo", "--noheader", "--format=%T"], capture_output=True, text=True).stdout, 60, "Slurm has no idle node")
    return processes
