"""Packs the staged folder of a release as a tarball and as a wheel, with the same bytes each time.

    python3 packaging/pack.py STAGE OUT VERSION EPOCH

STAGE is the folder `orrery-VERSION-PLATFORM` that `cargo xtask dist` filled, with the programs in `bin/`; VERSION is that of the
wheel, as Python writes it; EPOCH is the time of the commit in seconds. Prints one line a file: name, size in bytes. Only the standard library of Python is used.
"""

import base64
import gzip
import hashlib
import io
import pathlib
import platform
import re
import subprocess
import sys
import tarfile
import time
import zipfile

DISTRIBUTION = "orrery_programs"
SUMMARY = "Reproducible experiments with language models: popper, zer0gravity, logosphere, hermitcrab."


def files(folder):
    """The files below a folder with their names relative to it, sorted."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    return sorted((path.relative_to(folder).as_posix(), path) for path in found)


def mode(path):
    return 0o755 if path.stat().st_mode & 0o100 else 0o644


def tarball(stage, out, epoch):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, path in files(stage):
            entry = tarfile.TarInfo(f"{stage.name}/{name}")
            entry.size, entry.mtime, entry.mode = path.stat().st_size, epoch, mode(path)
            with path.open("rb") as content:
                archive.addfile(entry, content)
    target = out / f"{stage.name}.tar.gz"
    with target.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=epoch) as archive:
        archive.write(packed.getvalue())
    return target


def wheel_platform(programs):
    """The platform of the wheel; on Linux with the newest symbol version of the C library that a program needs."""
    machine = platform.machine()
    if sys.platform == "darwin":
        return f"macosx_11_0_{machine}"
    needed = set()
    for program in programs:
        symbols = subprocess.run(["objdump", "-T", program], check=True, capture_output=True, text=True)
        needed.update(re.findall(r"GLIBC_2\.(\d+)", symbols.stdout))
    return f"manylinux_2_{max(map(int, needed))}_{machine}"


def wheel(stage, out, version, epoch):
    programs = [path for _, path in files(stage / "bin")]
    tag = f"py3-none-{wheel_platform(programs)}"
    info = f"{DISTRIBUTION}-{version}.dist-info"
    metadata = [
        "Metadata-Version: 2.4",
        f"Name: {DISTRIBUTION}",
        f"Version: {version}",
        f"Summary: {SUMMARY}",
        "License-Expression: MIT OR Apache-2.0",
        "Description-Content-Type: text/markdown",
    ]
    licences = [name for name, _ in files(stage) if name.startswith("LICENSE") or name == "NOTICE"]
    metadata += [f"License-File: {name}" for name in licences]
    readme = (stage / "README.md").read_text(encoding="utf-8")
    contents = [(f"{DISTRIBUTION}-{version}.data/scripts/{path.name}", path.read_bytes(), 0o755) for path in programs]
    contents += [(f"{info}/licenses/{name}", (stage / name).read_bytes(), 0o644) for name in licences]
    contents.append((f"{info}/METADATA", ("\n".join(metadata) + f"\n\n{readme}").encode(), 0o644))
    about = f"Wheel-Version: 1.0\nGenerator: orrery\nRoot-Is-Purelib: false\nTag: {tag}\n"
    contents.append((f"{info}/WHEEL", about.encode(), 0o644))
    record = [f"{name},sha256={digest(content)},{len(content)}" for name, content, _ in contents]
    record.append(f"{info}/RECORD,,")
    contents.append((f"{info}/RECORD", ("\n".join(record) + "\n").encode(), 0o644))
    target = out / f"{DISTRIBUTION}-{version}-{tag}.whl"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content, bits in contents:
            entry = zipfile.ZipInfo(name, time.gmtime(epoch)[:6])
            entry.create_system, entry.external_attr = 3, (0o100000 | bits) << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)
            if bits == 0o755:
                print(f"  {pathlib.PurePath(name).name} {archive.getinfo(name).compress_size}")
    return target


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def main():
    stage, out, version, epoch = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    packed = [tarball(stage, out, epoch), wheel(stage, out, version, epoch)]
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(packed)]
    (out / "SHA256SUMS").write_text("".join(sums))
    for path in packed:
        print(f"{path.name} {path.stat().st_size}")


main()
