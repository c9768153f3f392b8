#!/usr/bin/env python3
"""The small data of GUIDE.md and docs/cookbook.md, written into a folder; the same on every machine.

    python3 docs/make_data.py data
"""
import random
import sys
from pathlib import Path


def write(folder, name, header, rows):
    lines = [header, *(",".join(map(str, row)) for row in rows)]
    (folder / name).write_text("\n".join(line for line in lines if line) + "\n")


def people(folder, rng, count=240, groups=4):
    """Who follows whom: often people of the next group around a circle, hardly ever those of the one before."""
    names = [f"p{i}" for i in range(count)]
    group = [i % groups for i in range(count)]
    rng.shuffle(group)
    weight = {1: 1.9, groups - 1: 0.1}
    links = [
        (names[i], names[j])
        for i in range(count) for j in range(count)
        if i != j and rng.random() < 0.06 * weight.get((group[j] - group[i]) % groups, 1)
    ]
    labels = [(name, "abcd"[g]) for name, g in zip(names, group)]
    write(folder, "follows.csv", "source,target", links)
    write(folder, "groups.csv", "node,label", labels)
    write(folder, "known.csv", "node,label", labels[: count // 2])
    write(folder, "unknown.txt", "", [(name,) for name in names[count // 2 :]])
    write(folder, "people.csv", "id,age,posts", [(n, 20 + rng.randrange(40) + 2 * g, rng.randrange(90)) for n, g in zip(names, group)])
    newcomer = [("anna", names[i]) for i in range(count) if group[i] == 1][:9] + [(names[i], "anna") for i in range(count) if group[i] == 3][:9]
    write(folder, "newcomer.csv", "source,target", newcomer)


def flowers(folder, rng, count=150):
    """A table with a class."""
    middle = {"iris": (5, 3, 1.5, 0.3), "lily": (6, 2.8, 4.2, 1.3), "rose": (6.6, 3, 5.6, 2)}
    kinds = [list(middle)[i % 3] for i in range(count)]
    row = lambda kind: [round(rng.gauss(m, 0.35), 2) for m in middle[kind]]
    header = "sepal_length,sepal_width,petal_length,petal_width"
    write(folder, "flowers.csv", header + ",species", [(*row(kind), kind) for kind in kinds])
    write(folder, "new-flowers.csv", header, [row(kind) for kind in kinds[:6]])


def houses(folder, rng, count=400):
    """A table with a value and a column of words."""
    worth = {"harbour": 1.6, "hills": 1.3, "station": 1.0}
    rows = []
    for _ in range(count):
        town, area, age = rng.choice(list(worth)), rng.uniform(30, 180), rng.uniform(0, 80)
        rows.append((round(area, 1), round(age, 1), town, round(worth[town] * area * (1.4 - age / 100) + rng.gauss(0, 6), 1)))
    write(folder, "houses.csv", "area,age,town,price", rows)


def documents(folder, rng, count=60, terms=45, topics=3):
    """A matrix of counts: documents of three topics, each with its own terms."""
    topic = [i % topics for i in range(count)]
    cell = lambda i, j: sum(rng.random() < (0.5 if j % topics == topic[i] else 0.12) for _ in range(3))
    write(folder, "counts.csv", ",".join(f"t{j}" for j in range(terms)), [[cell(i, j) for j in range(terms)] for i in range(count)])
    write(folder, "topics.csv", "row,label", enumerate(topic))


def tastes(folder, rng, users=50, items=40):
    """Two sets of samples in the same coordinates."""
    sample = lambda: [round(rng.gauss(0, 1), 3) for _ in range(3)]
    write(folder, "users.csv", "sweet,sour,salty", [sample() for _ in range(users)])
    write(folder, "items.csv", "sweet,sour,salty", [sample() for _ in range(items)])


def pairs(folder, rng, trials=600):
    """A stream of pairs: how much somebody likes something, a bilinear function of both."""
    rows = []
    for _ in range(trials):
        x, y = [rng.uniform(-1, 1) for _ in range(3)], [rng.uniform(-1, 1) for _ in range(2)]
        rows.append([round(v, 3) for v in (*x, *y, x[0] * y[0] - 0.5 * x[2] * y[1])])
    write(folder, "pairs.csv", "x0,x1,x2,y0,y1,label", rows)


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "data")
    folder.mkdir(parents=True, exist_ok=True)
    for seed, maker in enumerate([people, flowers, houses, documents, tastes, pairs]):
        maker(folder, random.Random(seed))
    print(f"{len(list(folder.iterdir()))} files in {folder}")


if __name__ == "__main__":
    main()
