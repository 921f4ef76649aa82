"""Packs the course of the last commit as a Python package for `pipx run warplings` and notebooks:

    python3 setup/course_wheel.py [--out FOLDER] [PREBUILT.whl ...]

The same commit gives the same bits. Each prebuilt grader (wheel.py) that is named travels along, so that the
first start compiles little where one of them fits."""

import argparse
import gzip
import io
import os
import subprocess
import tarfile

import wheel

MODULE = "warplings"


def committed(root):
    """(name, mode, seconds, contents) of the files of the last commit."""
    packed = subprocess.run(["git", "-C", root, "archive", "--format=tar", "HEAD"], check=True,
                            capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        return [(member.name, member.mode, member.mtime, archive.extractfile(member).read())
                for member in archive if member.isfile()]


def course(root):
    """One archive, of the commit's time and nobody's; in it files stay executable, which a wheel forgets."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, mode, seconds, data in sorted(committed(root)):
            member = tarfile.TarInfo(name)
            member.size, member.mtime = len(data), seconds
            member.mode = 0o755 if mode & 0o100 else 0o644
            archive.addfile(member, io.BytesIO(data))
    return gzip.compress(packed.getvalue(), 6, mtime=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default=os.path.join(wheel.ROOT, "build/wheel"))
    parser.add_argument("prebuilt", nargs="*", metavar="PREBUILT.whl")
    arguments = parser.parse_args()
    here = os.path.join(wheel.ROOT, "setup", MODULE)
    files = {f"{MODULE}/{name}": wheel.read(os.path.join(here, name)) for name in ("__init__.py", "__main__.py")}
    files[f"{MODULE}/course.tar.gz"] = course(wheel.ROOT)
    for path in arguments.prebuilt:
        files[f"{MODULE}/{os.path.basename(path)}"] = wheel.read(path)
    path = wheel.write_package(arguments.out, MODULE, wheel.project_version(), files, "py3-none-any",
                               summary="Learn CUDA C++ by making kernels pass; no GPU needed",
                               scripts={MODULE: f"{MODULE}:main"}, python=">=3.9")
    print(f"{path}\n{wheel.sha256(wheel.read(path))}  {os.path.getsize(path) >> 10} KiB")


if __name__ == "__main__":
    main()
