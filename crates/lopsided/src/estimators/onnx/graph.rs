//! The operators of a [`KernelSum`].

use super::sum::Formula;
use super::{Exported, Head, KernelSum};
use crate::base::scalar::Scalar;
use crate::data::onnx::{Graph, OPSET, Value};
use crate::estimators::Answer;
use crate::solvers::svm::{CERTAIN, Pair, Sigmoid};
use faer::{Mat, MatRef};

const INPUT: &str = "X";

/// The file of a model, with the name of its estimator.
pub(super) fn write<T: Scalar>(sum: &KernelSum<T>, estimator: String) -> Exported {
    let mut graph = Graph::<T>::new();
    let features = sum.anchors.ncols();
    let x = graph.input(INPUT, features);
    let x = sum.scale.as_ref().map_or_else(|| x.clone(), |scale| scaled(&mut graph, &x, scale));
    let functions = function_values(&mut graph, &x, sum);
    let classes = sum.answer.classes();
    let (decision, probabilities) = sum.head.outcome(&mut graph, &functions, sum.answer.width());
    let mut outputs = Vec::new();
    if sum.answer == Answer::Values {
        graph.output("values", &decision, Some(1));
        outputs.push("values");
    } else {
        let best = graph.op_with("ArgMax", &[&decision], &[("axis", 1), ("keepdims", 0)]);
        let names = graph.texts(classes);
        let label = graph.op_with("Gather", &[&names, &best], &[("axis", 0)]);
        graph.output("label", &label, None);
        graph.output("scores", &decision, Some(classes.len()));
        outputs.extend(["label", "scores"]);
    }
    if let Some(probabilities) = probabilities {
        graph.output("probabilities", &probabilities, Some(classes.len()));
        outputs.push("probabilities");
    }
    let facts = [("estimator", estimator.clone()), ("classes", serde_json::json!(classes).to_string())];
    let bytes = graph.finish(&estimator, &facts);
    Exported { bytes, opset: OPSET, input: INPUT, features, outputs }
}

/// (x − offset)·factor. Single precision has not enough digits for an offset beside which columns hardly vary: what is lost
/// of it is subtracted after the rest, which is exact.
fn scaled<T: Scalar>(graph: &mut Graph<T>, x: &Value, (offset, factor): &(Vec<f64>, Vec<f64>)) -> Value {
    let shape = [1, offset.len()];
    let whole = graph.numbers(&shape, offset.iter().copied());
    let mut x = graph.op("Sub", &[x, &whole]);
    let lost: Vec<f64> = offset.iter().map(|v| v - T::of(*v).as_f64()).collect();
    if lost.iter().any(|v| *v != 0.0) {
        let lost = graph.numbers(&shape, lost.into_iter());
        x = graph.op("Sub", &[&x, &lost]);
    }
    let factor = graph.numbers(&shape, factor.iter().copied());
    graph.op("Mul", &[&x, &factor])
}

/// The entries of a matrix, row by row.
fn entries<T: Scalar>(matrix: MatRef<'_, T>) -> impl Iterator<Item = f64> {
    (0..matrix.nrows()).flat_map(move |i| (0..matrix.ncols()).map(move |j| matrix[(i, j)].as_f64()))
}

fn constant<T: Scalar>(graph: &mut Graph<T>, matrix: MatRef<'_, f64>) -> Value {
    graph.numbers(&[matrix.nrows(), matrix.ncols()], entries(matrix))
}

/// x·matrix.
fn times<T: Scalar>(graph: &mut Graph<T>, x: &Value, matrix: MatRef<'_, f64>) -> Value {
    let matrix = constant(graph, matrix);
    graph.op("MatMul", &[x, &matrix])
}

/// Σ_j k(x, z_j)·w_jc + b_c.
fn function_values<T: Scalar>(graph: &mut Graph<T>, x: &Value, sum: &KernelSum<T>) -> Value {
    let anchors = Mat::from_fn(sum.anchors.nrows(), sum.anchors.ncols(), |j, k| sum.anchors[(j, k)].as_f64());
    let z = anchors.as_ref();
    let values = match sum.kernel {
        Formula::Linear => times(graph, x, (z.transpose() * &sum.weights).as_ref()),
        Formula::Polynomial(kernel) => {
            let scaled = z.transpose() * faer::Scale(kernel.gamma);
            let (dots, coef0) = (times(graph, x, scaled.as_ref()), graph.number(kernel.coef0));
            let (base, degree) = (graph.op("Add", &[&dots, &coef0]), graph.number(f64::from(kernel.degree)));
            let values = graph.op("Pow", &[&base, &degree]);
            times(graph, &values, sum.weights.as_ref())
        }
        Formula::Rbf(gamma) => {
            let values = gaussians(graph, x, z, gamma);
            times(graph, &values, sum.weights.as_ref())
        }
        Formula::Laplacian(gamma) => {
            let values = exponentials(graph, x, z, gamma);
            times(graph, &values, sum.weights.as_ref())
        }
    };
    let bias = graph.numbers(&[1, sum.bias.len()], sum.bias.iter().copied());
    graph.op("Add", &[&values, &bias])
}

/// exp(−gamma·|x − z|²), around the mean of the anchors.
fn gaussians<T: Scalar>(graph: &mut Graph<T>, x: &Value, z: MatRef<'_, f64>, gamma: f64) -> Value {
    let count = z.nrows().max(1) as f64;
    // Rounded, so that samples and anchors are moved by the same.
    let center: Vec<f64> = z.col_iter().map(|column| T::of(column.iter().sum::<f64>() / count).as_f64()).collect();
    let moved = Mat::from_fn(z.nrows(), z.ncols(), |j, k| z[(j, k)] - center[k]);
    let center = graph.numbers(&[1, center.len()], center.into_iter());
    let x = graph.op("Sub", &[x, &center]);
    let dots = times(graph, &x, (moved.transpose() * faer::Scale(2.0 * gamma)).as_ref());
    let (squares, along) = (graph.op("Mul", &[&x, &x]), graph.indices(&[1], &[1]));
    let (sizes, factor) = (graph.op_with("ReduceSum", &[&squares, &along], &[("keepdims", 1)]), graph.number(gamma));
    let own = graph.op("Mul", &[&sizes, &factor]);
    let theirs = graph.numbers(&[1, moved.nrows()], moved.row_iter().map(|row| gamma * row.squared_norm_l2()));
    let (part, zero) = (graph.op("Sub", &[&dots, &own]), graph.number(0.0));
    let exponent = graph.op("Sub", &[&part, &theirs]);
    let exponent = graph.op("Min", &[&exponent, &zero]);
    graph.op("Exp", &[&exponent])
}

/// exp(−gamma·|x − z|₁), one feature after the other: no array is larger than the kernel values themselves.
fn exponentials<T: Scalar>(graph: &mut Graph<T>, x: &Value, z: MatRef<'_, f64>, gamma: f64) -> Value {
    let mut distance: Option<Value> = None;
    for (k, theirs) in z.col_iter().enumerate() {
        let (at, theirs) = (graph.indices(&[1], &[k]), graph.numbers(&[1, z.nrows()], theirs.iter().copied()));
        let own = graph.op_with("Gather", &[x, &at], &[("axis", 1)]);
        let difference = graph.op("Sub", &[&own, &theirs]);
        let part = graph.op("Abs", &[&difference]);
        distance = Some(distance.map_or_else(|| part.clone(), |sum| graph.op("Add", &[&sum, &part])));
    }
    let factor = graph.number(-gamma);
    // A table has a column.
    let exponent = graph.op("Mul", &[distance.as_ref().unwrap_or(x), &factor]);
    graph.op("Exp", &[&exponent])
}

impl Head {
    /// Decision values, and probabilities where there are any.
    fn outcome<T: Scalar>(&self, graph: &mut Graph<T>, f: &Value, classes: usize) -> (Value, Option<Value>) {
        match self {
            Head::Plain => (f.clone(), None),
            Head::Softmax => (f.clone(), Some(graph.op_with("Softmax", &[f], &[("axis", 1)]))),
            Head::Stacked { power } => {
                let stacked = stacked(graph, f, *power);
                (stacked.clone(), Some(stacked))
            }
            Head::Machines { pairs, sigmoids } => {
                let probabilities = sigmoids.as_ref().map(|s| machine_probabilities(graph, f, s, pairs, classes));
                (decided(graph, f, pairs, classes), probabilities)
            }
        }
    }
}

/// P_c ∝ σ(f_c)^power with log σ(f) = min(f, 0) − log(1 + exp(−|f|)).
fn stacked<T: Scalar>(graph: &mut Graph<T>, f: &Value, power: f64) -> Value {
    let (zero, one, power) = (graph.number(0.0), graph.number(1.0), graph.number(power));
    let least = graph.op("Min", &[f, &zero]);
    let size = graph.op("Abs", &[f]);
    let negative = graph.op("Neg", &[&size]);
    let small = graph.op("Exp", &[&negative]);
    let above = graph.op("Add", &[&small, &one]);
    let log = graph.op("Log", &[&above]);
    let logs = graph.op("Sub", &[&least, &log]);
    let raised = graph.op("Mul", &[&logs, &power]);
    graph.op_with("Softmax", &[&raised], &[("axis", 1)])
}

/// Whether each function speaks for a class against all others.
fn against_rest(pairs: &[Pair]) -> bool {
    pairs.iter().all(|pair| pair.1.is_none())
}

/// The matrix with 1 where a pair has the class first, and the one where it has it second.
fn sides(pairs: &[Pair], places: &[usize], classes: usize) -> [Mat<f64>; 2] {
    let [mut first, mut second] = [(); 2].map(|()| Mat::zeros(pairs.len(), classes));
    for (at, (a, b)) in pairs.iter().enumerate() {
        first[(at, places[*a as usize])] = 1.0;
        second[(at, places[b.unwrap_or(*a) as usize])] = 1.0;
    }
    [first, second]
}

/// Decision values of classes, as [`crate::solvers::svm::class_values`] has them.
fn decided<T: Scalar>(graph: &mut Graph<T>, f: &Value, pairs: &[Pair], classes: usize) -> Value {
    if against_rest(pairs) {
        return f.clone();
    }
    if classes == 2 {
        return times(graph, f, faer::mat![[1.0, -1.0]].as_ref());
    }
    let [first, second] = sides(pairs, &(0..classes).collect::<Vec<_>>(), classes);
    let difference = &first - &second;
    let (zero, one, three) = (graph.number(0.0), graph.number(1.0), graph.number(3.0));
    let wins = graph.op("Greater", &[f, &zero]);
    let wins = graph.op_with("Cast", &[&wins], &[("to", if T::BYTES == 4 { 1 } else { 11 })]);
    let gained = times(graph, &wins, difference.as_ref());
    let lost_by_all = graph.numbers(&[1, classes], second.col_iter().map(|column| column.iter().sum()));
    let votes = graph.op("Add", &[&gained, &lost_by_all]);
    let sums = times(graph, f, difference.as_ref());
    let size = graph.op("Abs", &[&sums]);
    let above = graph.op("Add", &[&size, &one]);
    let below = graph.op("Mul", &[&above, &three]);
    let share = graph.op("Div", &[&sums, &below]);
    graph.op("Add", &[&votes, &share])
}

/// Class probabilities of the sigmoids of all machines.
fn machine_probabilities<T: Scalar>(
    graph: &mut Graph<T>,
    f: &Value,
    sigmoids: &[Sigmoid],
    pairs: &[Pair],
    classes: usize,
) -> Value {
    let shape = [1, sigmoids.len()];
    let slope = graph.numbers(&shape, sigmoids.iter().map(|s| -s.slope));
    let offset = graph.numbers(&shape, sigmoids.iter().map(|s| -s.offset));
    let scaled = graph.op("Mul", &[f, &slope]);
    let exponent = graph.op("Add", &[&scaled, &offset]);
    let each = graph.op("Sigmoid", &[&exponent]);
    if !against_rest(pairs) {
        return coupled(graph, &each, pairs, classes);
    }
    // Where nobody says yes, everybody is as likely.
    let least = graph.number(if T::BYTES == 4 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE });
    let each = graph.op("Max", &[&each, &least]);
    shares(graph, &each)
}

/// Rows divided by their sums.
fn shares<T: Scalar>(graph: &mut Graph<T>, values: &Value) -> Value {
    let along = graph.indices(&[1], &[1]);
    let sums = graph.op_with("ReduceSum", &[values, &along], &[("keepdims", 1)]);
    graph.op("Div", &[values, &sums])
}

/// The p that minimises pᵀQp over Σp = 1, as [`crate::solvers::svm::coupled`] finds it step by step: p is (Q + 11ᵀ)⁻¹·1
/// divided by its sum, by Gauss and Jordan's elimination, in which a positive definite matrix needs no pivots.
fn coupled<T: Scalar>(graph: &mut Graph<T>, each: &Value, pairs: &[Pair], classes: usize) -> Value {
    let mut present: Vec<usize> = pairs.iter().flat_map(|(a, b)| [*a as usize, b.unwrap_or(*a) as usize]).collect();
    present.sort_unstable();
    present.dedup();
    let count = present.len();
    let mut places = vec![0; classes];
    present.iter().enumerate().for_each(|(at, &class)| places[class] = at);
    let mut system = system(graph, each, pairs, &places, count);
    for k in 0..count {
        let at = graph.indices(&[1], &[k]);
        let unit = graph.numbers(&[1, count, 1], (0..count).map(|i| f64::from(u8::from(i == k))));
        let row = graph.op_with("Gather", &[&system, &at], &[("axis", 1)]);
        let column = graph.op_with("Gather", &[&system, &at], &[("axis", 2)]);
        let corner = graph.op_with("Gather", &[&row, &at], &[("axis", 2)]);
        let row = graph.op("Div", &[&row, &corner]);
        let column = graph.op("Sub", &[&column, &unit]);
        let taken = graph.op("Mul", &[&column, &row]);
        system = graph.op("Sub", &[&system, &taken]);
    }
    let last = graph.indices(&[], &[count]);
    let solution = graph.op_with("Gather", &[&system, &last], &[("axis", 2)]);
    let p = shares(graph, &solution);
    let spread = Mat::from_fn(count, classes, |at, class| f64::from(u8::from(present[at] == class)));
    times(graph, &p, spread.as_ref())
}

/// (Q + 11ᵀ, 1) of each sample, with Q_aa = Σ_b r_ba² and Q_ab = −r_ab·r_ba.
fn system<T: Scalar>(graph: &mut Graph<T>, each: &Value, pairs: &[Pair], places: &[usize], count: usize) -> Value {
    let (low, high) = (graph.number(CERTAIN), graph.number(1.0 - CERTAIN));
    let r = graph.op("Max", &[each, &low]);
    let r = graph.op("Min", &[&r, &high]);
    let one = graph.number(1.0);
    let other = graph.op("Sub", &[&one, &r]);
    let [first, second] = sides(pairs, places, count);
    let (squares, others) = (graph.op("Mul", &[&r, &r]), graph.op("Mul", &[&other, &other]));
    let (lost, won) = (times(graph, &squares, second.as_ref()), times(graph, &others, first.as_ref()));
    let diagonal = graph.op("Add", &[&lost, &won]);
    let behind = graph.indices(&[1], &[2]);
    let diagonal = graph.op("Unsqueeze", &[&diagonal, &behind]);
    let shape = [count, count + 1];
    let unit = graph.numbers(&shape, (0..count * (count + 1)).map(|at| f64::from(u8::from(at % (count + 2) == 0))));
    let diagonal = graph.op("Mul", &[&diagonal, &unit]);
    // The products of all pairs with a zero behind them, which stands for the places of no pair.
    let products = graph.op("Mul", &[&r, &other]);
    let start = graph.indices(&[1], &[0]);
    let some = graph.op_with("Gather", &[&products, &start], &[("axis", 1)]);
    let nothing = graph.op("Sub", &[&some, &some]);
    let products = graph.op_with("Concat", &[&products, &nothing], &[("axis", 1)]);
    let mut index = vec![pairs.len(); count * (count + 1)];
    for (at, (a, b)) in pairs.iter().enumerate() {
        let (a, b) = (places[*a as usize], places[b.unwrap_or(*a) as usize]);
        (index[a * (count + 1) + b], index[b * (count + 1) + a]) = (at, at);
    }
    let index = graph.indices(&shape, &index);
    let beside = graph.op_with("Gather", &[&products, &index], &[("axis", 1)]);
    let rest = graph.op("Sub", &[&one, &beside]);
    graph.op("Add", &[&diagonal, &rest])
}
