#!/usr/bin/env python3
"""A wheel of the development build: the Python files and an extension module that cargo has built.

usage: assemble.py EXTENSION_MODULE FOLDER

`make test` installs it. Wheels for others are built by maturin, which compiles everything once more, optimised:
`maturin build --release` in this folder.
"""
import base64
import hashlib
import re
import sys
import sysconfig
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def version():
    return re.search(r'^version = "(.*)"', (HERE.parent / "Cargo.toml").read_text(), re.M)[1]


def tag():
    return f"cp310-abi3-{re.sub('[-.]', '_', sysconfig.get_platform())}"


def metadata(release):
    return f"Metadata-Version: 2.1\nName: lopsided\nVersion: {release}\nRequires-Python: >=3.10\nRequires-Dist: numpy>=1.26\n"


def main():
    extension, folder = Path(sys.argv[1]), Path(sys.argv[2])
    release = version()
    info = f"lopsided-{release}.dist-info"
    suffix = ".pyd" if extension.suffix == ".dll" else ".abi3.so"
    sources = sorted(p for p in (HERE / "lopsided").iterdir() if p.suffix in (".py", ".pyi") or p.name == "py.typed")
    files = {f"lopsided/{path.name}": path.read_bytes() for path in sources}
    files[f"lopsided/_core{suffix}"] = extension.read_bytes()
    files[f"{info}/METADATA"] = metadata(release).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: assemble\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode()
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"lopsided-{release}-{tag()}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_STORED) as out:
        record = []
        for name, content in files.items():
            out.writestr(name, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(content)}")
        out.writestr(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,", ""]))
    print(wheel)


if __name__ == "__main__":
    main()
