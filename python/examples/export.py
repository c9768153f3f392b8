"""A machine leaves Python: as an ONNX file for other runtimes, and as a file of the program `lopsided`.

Prints the share of new points that are right here, in onnxruntime and after reading the file: the same, about 0.95.
"""
# %% Two moons, which no line tells apart.
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
from sklearn.datasets import make_moons
from sklearn.model_selection import train_test_split

from lopsided import NystromSVC

X, y = make_moons(600, noise=0.2, random_state=0)
train, test, y_train, y_test = train_test_split(X, np.array(["upper", "lower"])[y], random_state=0)

# %% Learn on 50 landmarks.
machine = NystromSVC(C=10, gamma=2.0, n_landmarks=50, random_state=0).fit(train, y_train)
print(f"here: {machine.score(test, y_test):.3f} of {len(test)} new points are right, guessing 0.5")

# %% The same in onnxruntime, which knows nothing of kernels.
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "moons.onnx"
machine.export_onnx(path)
session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
told = dict(zip([output.name for output in session.get_outputs()], session.run(None, {"X": test})))
print(f"in onnxruntime: {np.mean(told['label'].astype(str) == y_test):.3f}, a file of {path.stat().st_size / 1000:.1f} kB")
print("the same classes:", bool(np.all(told["label"].astype(str) == machine.predict(test))))

# %% And as a model file, which Rust, the shell and Python read; what is read learns again as it learned before.
machine.save(Path(folder.name) / "moons.model")
again = NystromSVC.load(Path(folder.name) / "moons.model")
print("read from its file:", again, f"{again.score(test, y_test):.3f}")
folder.cleanup()
