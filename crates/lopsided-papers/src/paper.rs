//! Figures of \[KSVD\], looked up by the name of a set for printing beside ours and for nothing else.

use serde::Serialize;

/// What the paper reports of one method on one graph (Table 1).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct NodeFigures {
    pub(super) micro_f1: f64,
    pub(super) macro_f1: f64,
    pub(super) l1: f64,
    pub(super) l2: f64,
}

/// Set; for PCA, KPCA, SVD, KSVD, HOPE: micro-F1, macro-F1, ℓ1, ℓ2.
type Graph = (&'static str, [[f64; 4]; 5]);

const METHODS: [&str; 5] = ["PCA", "KPCA", "SVD", "KSVD", "HOPE"];

const TABLE_1: [Graph; 5] = [
    (
        "cora",
        [
            [0.757, 0.751, 556.0, 41.2],
            [0.771, 0.767, 349.0, 37.9],
            [0.776, 0.770, 622.0, 41.7],
            [0.792, 0.784, 14.0, 17.4],
            [0.750, 0.473, 15.0, 18.1],
        ],
    ),
    (
        "citeseer",
        [
            [0.648, 0.611, 138.0, 21.3],
            [0.666, 0.635, 46.0, 16.0],
            [0.667, 0.632, 176.0, 24.6],
            [0.678, 0.640, 25.0, 14.3],
            [0.642, 0.607, 25.0, 13.3],
        ],
    ),
    (
        "pubmed",
        [
            [0.765, 0.736, 1937.0, 128.0],
            [0.754, 0.715, 171.0, 31.9],
            [0.766, 0.738, 1933.0, 118.1],
            [0.773, 0.743, 170.0, 23.8],
            [0.771, 0.741, 171.0, 23.8],
        ],
    ),
    (
        "twitchpt",
        [
            [0.681, 0.517, 1780.0, 196.3],
            [0.681, 0.531, 766.0, 172.4],
            [0.694, 0.543, 1839.0, 192.1],
            [0.712, 0.596, 756.0, 140.3],
            [0.685, 0.568, 1108.0, 158.2],
        ],
    ),
    (
        "blogcatalog",
        [
            [0.648, 0.643, 5173.0, 429.4],
            [0.663, 0.659, 766.0, 99.9],
            [0.687, 0.673, 5166.0, 410.5],
            [0.710, 0.703, 764.0, 94.2],
            [0.704, 0.697, 3709.0, 286.7],
        ],
    ),
];

/// Set; AUROC or RMSE of nonlinear + SVD and of KSVD (Table 5).
const TABLE_5: [(&str, [f64; 2]); 9] = [
    ("diabetes", [0.6296, 0.7607]),
    ("pima", [0.6296, 0.7607]),
    ("ionosphere", [0.7292, 0.8374]),
    ("liver", [0.7032, 0.7100]),
    ("liverilpd", [0.7032, 0.7100]),
    ("cholesterol", [49.0867, 49.1592]),
    ("yacht", [15.0002, 14.6489]),
    ("physicochemicalprotein", [5.9517, 5.4583]),
    ("proteincasp", [5.9517, 5.4583]),
];

/// Set; AUROC of KPCA and KSVD (Table 7).
const TABLE_7: [(&str, [f64; 2]); 3] =
    [("amazoncat13k", [0.51, 0.55]), ("avazu", [0.52, 0.67]), ("criteo", [0.54, 0.63])];
/// What the paper reports of one method on one matrix (Tables 2 and 9).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct BiclusterFigures {
    pub(super) nmi: f64,
    pub(super) coherence: f64,
    /// Clusters of the columns that the coherence is for.
    pub(super) col_clusters: usize,
}

const BICLUSTERING: [&str; 5] = ["SVD", "KPCA", "KSVD", "BCOT", "EBC"];

/// Set; clusters of columns; for SVD, KPCA, KSVD, BCOT, EBC: NMI, coherence.
type Matrix = (&'static str, usize, [[f64; 2]; 5]);

const TABLE_2: [Matrix; 4] = [
    ("acm", 18, [[0.58, 0.21], [0.59, 0.28], [0.68, 0.32], [0.38, 0.27], [0.62, 0.20]]),
    ("dblp", 2, [[0.09, -0.06], [0.26, 0.17], [0.28, 0.21], [0.27, 0.22], [0.15, 0.21]]),
    ("pubmed", 3, [[0.31, 0.42], [0.29, 0.51], [0.33, 0.54], [0.16, 0.54], [0.19, 0.56]]),
    ("wiki", 23, [[0.39, 0.42], [0.46, 0.57], [0.48, 0.64], [0.48, 0.64], [0.47, 0.63]]),
];

/// What the paper reports of the solvers on one graph at one accuracy (Tables 4 and 6).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct SolverFigures {
    pub(super) tsvd: f64,
    pub(super) rsvd: f64,
    pub(super) symmetric_nystrom: f64,
    pub(super) nystrom: f64,
    /// RSVD over asymmetric Nyström.
    pub(super) speedup: f64,
}

/// Set; bandwidth factor; seconds of TSVD, RSVD, symmetric and asymmetric Nyström to η ≤ 0.1; likewise to 0.01.
type Times = (&'static str, f64, [[f64; 5]; 2]);

const TABLE_6: [Times; 3] = [
    ("cora", 1.0, [[0.841, 0.274, 0.673, 0.160, 1.71], [0.841, 0.313, 0.681, 0.225, 1.39]]),
    ("citeseer", 1.0, [[0.568, 0.290, 0.214, 0.136, 2.14], [0.568, 0.396, 0.425, 0.239, 1.66]]),
    ("pubmed", 0.5, [[9.223, 4.577, 44.914, 0.141, 32.51], [9.223, 5.209, 53.297, 0.590, 8.83]]),
];

/// Accuracy or RMSE of Table 3: KPCA, KPCA with a learned C; KSVD with RBF, a0 to a3; KSVD with SNE, a0 to a3.
pub(super) type CompatFigures = [f64; 10];

const DIABETES: CompatFigures = [0.67, 0.68, 0.66, 0.67, 0.67, 0.71, 0.66, 0.65, 0.67, 0.69];
const LIVER: CompatFigures = [0.71, 0.72, 0.74, 0.70, 0.71, 0.76, 0.71, 0.72, 0.70, 0.75];
const PROTEIN: CompatFigures = [5.96, 5.96, 5.94, 5.96, 6.01, 5.90, 5.96, 6.03, 6.00, 5.93];
const TABLE_3: [(&str, CompatFigures); 9] = [
    ("diabetes", DIABETES),
    ("pima", DIABETES),
    ("ionosphere", [0.67, 0.68, 0.68, 0.69, 0.69, 0.70, 0.70, 0.67, 0.68, 0.72]),
    ("liver", LIVER),
    ("liverilpd", LIVER),
    ("cholesterol", [59.36, 53.14, 54.53, 52.80, 55.24, 45.91, 49.11, 47.83, 48.12, 44.40]),
    ("yacht", [15.85, 14.05, 14.90, 14.74, 16.57, 12.98, 15.41, 14.18, 13.89, 13.05]),
    ("physicochemicalprotein", PROTEIN),
    ("proteincasp", PROTEIN),
];

/// What \[AsKLS\] reports of one method on one set: micro-F1 or accuracy, and macro-F1 where it has one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct AskLsFigures {
    micro_f1: f64,
    deviation: f64,
    macro_f1: Option<f64>,
}

impl AskLsFigures {
    pub(super) fn text(self) -> String {
        let both = self.macro_f1.map_or(String::new(), |m| format!("/{m:.3}"));
        format!("{:.3}{both} ± {:.3}", self.micro_f1, self.deviation)
    }
}

/// Table 1 of \[AsKLS\], on images that are not here: LS-SVM with a symmetric KL kernel, and AsK-LS.
pub(super) fn corel_figures(method: &str) -> Option<AskLsFigures> {
    match method {
        "AsK-LS" => Some(AskLsFigures { micro_f1: 0.916, deviation: 0.0048, macro_f1: Some(0.914) }),
        "LS-SVM, KL + KLᵀ" => Some(AskLsFigures { micro_f1: 0.840, deviation: 0.0, macro_f1: Some(0.832) }),
        _ => None,
    }
}

/// Set; for LS-SVM and AsK-LS on the graph: micro-F1, its deviation, macro-F1 (Table 3).
const ASKLS_3: [(&str, [[f64; 3]; 2]); 4] = [
    ("cora", [[0.713, 0.015, 0.708], [0.753, 0.013, 0.748]]),
    ("citeseer", [[0.596, 0.011, 0.560], [0.605, 0.012, 0.579]]),
    ("pubmed", [[0.635, 0.006, 0.503], [0.719, 0.004, 0.698]]),
    ("amazoncomputers", [[0.619, 0.014, 0.443], [0.868, 0.002, 0.846]]),
];

/// Set; for RBF, SNE and T: accuracy and its deviation (Table 4).
const ASKLS_4: [(&str, [[f64; 2]; 3]); 8] = [
    ("heartstatlog", [[0.837, 0.032], [0.824, 0.025], [0.825, 0.031]]),
    ("sonar", [[0.856, 0.001], [0.854, 0.028], [0.865, 0.027]]),
    ("monks1", [[0.791, 0.012], [0.790, 0.014], [0.778, 0.012]]),
    ("monks2", [[0.841, 0.007], [0.866, 0.016], [0.866, 0.014]]),
    ("monks3", [[0.936, 0.003], [0.936, 0.004], [0.901, 0.004]]),
    ("pima", [[0.738, 0.026], [0.749, 0.026], [0.752, 0.021]]),
    ("australian", [[0.862, 0.015], [0.854, 0.019], [0.859, 0.032]]),
    ("spambase", [[0.925, 0.007], [0.908, 0.007], [0.922, 0.018]]),
];

/// Tables 3 and 4 of \[AsKLS\].
pub(super) fn askls_figures(set: &str, method: &str) -> Option<AskLsFigures> {
    let column = ["RBF", "SNE", "T"].iter().position(|kernel| method.split_whitespace().last() == Some(kernel));
    if let Some(column) = column {
        let [micro_f1, deviation] = ASKLS_4.iter().find(|(name, _)| *name == plain(set))?.1[column];
        return Some(AskLsFigures { micro_f1, deviation, macro_f1: None });
    }
    let row = usize::from(method.starts_with("AsK-LS"));
    let [micro_f1, deviation, macro_f1] = ASKLS_3.iter().find(|(name, _)| *name == plain(set))?.1[row];
    Some(AskLsFigures { micro_f1, deviation, macro_f1: Some(macro_f1) })
}

/// Names in lower case without signs, so that `twitch_pt` is TwitchPT.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase()
}

/// Table 1 of the paper; KSVD with any kernel is its KSVD.
pub(super) fn node_figures(set: &str, method: &str) -> Option<NodeFigures> {
    let column = METHODS.iter().position(|name| method.split_whitespace().next() == Some(name))?;
    let (_, rows) = TABLE_1.iter().find(|(name, _)| *name == plain(set))?;
    let [micro_f1, macro_f1, l1, l2] = rows[column];
    Some(NodeFigures { micro_f1, macro_f1, l1, l2 })
}

/// Table 5 of the paper: nonlinear + SVD, KSVD.
pub(super) fn ablation_figures(set: &str) -> Option<[f64; 2]> {
    TABLE_5.iter().find(|(name, _)| *name == plain(set)).map(|(_, figures)| *figures)
}

/// Table 7 of the paper: KPCA, KSVD.
pub(super) fn large_figures(set: &str) -> Option<[f64; 2]> {
    TABLE_7.iter().find(|(name, _)| *name == plain(set)).map(|(_, figures)| *figures)
}

/// Table 2 of the paper; KSVD with any kernel is its KSVD.
pub(super) fn bicluster_figures(set: &str, method: &str) -> Option<BiclusterFigures> {
    let row = BICLUSTERING.iter().position(|name| method.split_whitespace().next() == Some(name))?;
    let (_, col_clusters, rows) = TABLE_2.iter().find(|(name, ..)| *name == plain(set))?;
    let [nmi, coherence] = rows[row];
    Some(BiclusterFigures { nmi, coherence, col_clusters: *col_clusters })
}

/// Tables 4 and 6 of the paper, for the bandwidths and accuracies it has.
pub(super) fn solver_figures(set: &str, factor: f64, eta: f64) -> Option<SolverFigures> {
    let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
    let (.., rows) = TABLE_6.iter().find(|(name, k, _)| *name == plain(set) && close(*k, factor))?;
    let row = [0.1, 0.01].iter().position(|e| close(*e, eta))?;
    let [tsvd, rsvd, symmetric_nystrom, nystrom, speedup] = rows[row];
    Some(SolverFigures { tsvd, rsvd, symmetric_nystrom, nystrom, speedup })
}

/// Table 3 of the paper.
pub(super) fn compat_figures(set: &str) -> Option<CompatFigures> {
    TABLE_3.iter().find(|(name, _)| *name == plain(set)).map(|(_, figures)| *figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_by_name_and_method() {
        assert_eq!(node_figures("Twitch_PT", "KSVD SNE").map(|f| f.micro_f1), Some(0.712));
        assert_eq!(node_figures("cora", "KPCA").map(|f| f.l1), Some(349.0));
        assert_eq!(node_figures("unknown", "KPCA"), None);
        assert_eq!(ablation_figures("cora"), None);
        assert_eq!(large_figures("AmazonCat-13K"), Some([0.51, 0.55]));
        assert_eq!(bicluster_figures("ACM", "KSVD RBF").map(|f| f.col_clusters), Some(18));
        assert_eq!(solver_figures("pubmed", 0.5, 0.01).map(|f| f.speedup), Some(8.83));
        assert_eq!(solver_figures("pubmed", 1.0, 0.01), None);
        assert_eq!(compat_figures("Liver_ILPD").map(|f| f[5]), Some(0.76));
    }
}
