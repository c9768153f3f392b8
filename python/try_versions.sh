#!/usr/bin/env bash
# Installs a wheel for each CPython of pyenv from 3.10 on, with numpy alone, and fits.
set -euo pipefail
wheel=${1:?usage: try_versions.sh WHEEL}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "$(pyenv root)"/versions/3.1[0-9]*/bin/python; do
    "$python" -m venv --clear "$folder/venv"
    "$folder/venv/bin/pip" install -q --disable-pip-version-check "$wheel"
    (cd "$folder" && "$folder/venv/bin/python" - <<'CODE'
import pickle, sys
import numpy as np
import lopsided
X = np.random.default_rng(0).standard_normal((200, 4))
model = lopsided.KernelSVD(3, kernel="rbf").fit(X)
again = pickle.loads(pickle.dumps(model))
assert np.array_equal(again.transform(X), model.transform(X)) and "sklearn" not in sys.modules
y = (X[:, 0] > 0).astype(int)
assert lopsided.LSSVMClassifier().fit(X, y).score(X, y) > 0.9
print(sys.version.split()[0], "numpy", np.__version__, "lopsided", lopsided.__version__, model.singular_values_)
CODE
    )
done
