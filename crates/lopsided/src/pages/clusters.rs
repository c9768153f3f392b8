use super::map;
use crate::base::Run;
use crate::base::error::Result;
use crate::base::scalar::Scalar;
use crate::data::samples::{Samples, SamplesRef};
use crate::estimators::BiclusteringModel;
use crate::report::{Page, svg};
use faer::Mat;

/// Cells that a side of a reordered matrix has at most.
const CELLS: usize = 160;

/// Rows or columns in the order of their clusters, cut into groups of which one is a cell of a picture.
struct Order {
    /// Group of each row or column.
    groups: Vec<u32>,
    count: usize,
    /// Groups after which another cluster begins.
    borders: Vec<usize>,
}

/// The matrix and its kernel matrix with the rows and columns of a cluster side by side, and a map of the rows. `a` is the matrix
/// that was clustered, where it is at hand; `name` is what it is called.
///
/// # Errors
/// Those of products with G; [`crate::Error::Interrupted`].
///
/// # Cost
/// One product of G with at most 160 vectors: G itself is not held.
pub fn clusters<T: Scalar>(
    model: &BiclusteringModel<T>,
    a: Option<&Samples<T>>,
    name: &str,
    run: &Run,
) -> Result<Page> {
    let (rows, cols) = (Order::of(&model.row_clusters), Order::of(&model.col_clusters));
    let count = |clusters: &[u32]| clusters.iter().max().map_or(0, |c| *c as usize + 1);
    let facts = [
        ("rows and columns", format!("{} × {}", model.row_clusters.len(), model.col_clusters.len())),
        ("row clusters", count(&model.row_clusters).to_string()),
        ("column clusters", count(&model.col_clusters).to_string()),
    ];
    let lead =
        "Rows that see the columns alike are in one cluster, and columns that are seen alike by the rows in another.";
    let mut page = Page::new(&format!("Biclusters of {name}"), lead).facts(&facts).section("Reordered by clusters");
    let borders = (&rows.borders[..], &cols.borders[..]);
    let mut figures = Vec::new();
    if let Some(a) = a.filter(|a| (a.count(), a.width()) == (rows.groups.len(), cols.groups.len())) {
        figures.push(svg::heat(means(a.as_ref(), &rows, &cols).as_ref(), borders, "The matrix"));
    }
    if let Some(cells) = model.svd.group_means((&rows.groups, rows.count), (&cols.groups, cols.count), run)? {
        figures.push(svg::heat(cells.as_ref(), borders, "The kernel matrix G"));
    }
    let caption = "Rows downwards, columns across, each side in the order of its clusters; lines are the borders of clusters. A \
                   cell is the mean of all entries it stands for.";
    if !figures.is_empty() {
        page = page.figures(&figures, &[], caption);
    }
    let page = page.table("Sizes of the clusters", &["cluster", "rows", "columns"], &sizes(model));
    let last = model.row_clusters.iter().chain(&model.col_clusters).max().map_or(0, |c| c + 1);
    let groups = map::Groups {
        names: (0..last).map(|c| format!("cluster {c}")).collect(),
        rows: model.row_clusters.clone(),
        cols: model.col_clusters.clone(),
    };
    map::sections(page, &(&model.svd).into(), Some(&groups), run)
}

fn sizes<T>(model: &BiclusteringModel<T>) -> Vec<Vec<String>> {
    let last = model.row_clusters.iter().chain(&model.col_clusters).max().map_or(0, |c| c + 1);
    let count = |clusters: &[u32], c: u32| clusters.iter().filter(|own| **own == c).count().to_string();
    (0..last).map(|c| vec![c.to_string(), count(&model.row_clusters, c), count(&model.col_clusters, c)]).collect()
}

impl Order {
    /// Each cluster has its share of the cells, and one at least.
    fn of(clusters: &[u32]) -> Self {
        let n = clusters.len();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&i| clusters[i]);
        let (mut groups, mut borders, mut count) = (vec![0; n], Vec::new(), 0);
        for members in order.chunk_by(|&a, &b| clusters[a] == clusters[b]) {
            let cells = (members.len() * CELLS / n.max(1)).clamp(1, members.len());
            for (k, &i) in members.iter().enumerate() {
                groups[i] = (count + k * cells / members.len()) as u32;
            }
            count += cells;
            borders.push(count);
        }
        borders.pop();
        Order { groups, count, borders }
    }
}

/// Means of the entries of each cell.
fn means<T: Scalar>(a: SamplesRef<'_, T>, rows: &Order, cols: &Order) -> Mat<f64> {
    let mut sums = Mat::<f64>::zeros(rows.count, cols.count);
    for i in 0..a.count() {
        let group = rows.groups[i] as usize;
        match a {
            SamplesRef::Dense(dense) => {
                dense.row(i).iter().zip(&cols.groups).for_each(|(v, &g)| sums[(group, g as usize)] += v.as_f64());
            }
            SamplesRef::Sparse(csr) => {
                let (places, values) = csr.row(i);
                for (&j, v) in places.iter().zip(values) {
                    sums[(group, cols.groups[j as usize] as usize)] += v.as_f64();
                }
            }
        }
    }
    let size = |order: &Order| {
        let mut sizes = vec![0.0; order.count];
        order.groups.iter().for_each(|&g| sizes[g as usize] += 1.0);
        sizes
    };
    let (heights, widths) = (size(rows), size(cols));
    Mat::from_fn(rows.count, cols.count, |i, j| sums[(i, j)] / (heights[i] * widths[j]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::samples::Csr;
    use crate::data::synth;
    use crate::estimators::Biclustering;

    #[test]
    fn every_cluster_has_cells_and_every_sample_one_of_them() {
        let clusters: Vec<u32> = (0..1000).map(|i| if i < 3 { 1 } else { 2 * (i % 2) }).collect();
        let order = Order::of(&clusters);
        assert!(order.count <= CELLS + 1 && order.borders.len() == 2);
        for i in 1..1000 {
            let same = order.groups[i] == order.groups[i - 1];
            assert!(!same || clusters[i] == clusters[i - 1], "{i}");
        }
        let empty = Order::of(&[]);
        assert_eq!((empty.count, empty.borders.len()), (0, 0));
    }

    #[test]
    fn cells_of_sparse_and_dense_matrices_are_means() {
        let (rows, cols) = (Order::of(&[0, 1, 0]), Order::of(&[1, 1, 0, 0]));
        let dense = Mat::from_fn(3, 4, |i, j| (i * 4 + j) as f64);
        let entries: Vec<_> = (0..12u32).map(|k| (k / 4, k % 4, f64::from(k))).collect();
        let sparse = Csr::from_triplets(3, 4, &entries);
        let found = means(SamplesRef::Dense(dense.as_ref()), &rows, &cols);
        assert_eq!(found, means(Samples::Sparse(sparse).as_ref(), &rows, &cols));
        assert!((found.norm_max() - 7.0).abs() < 10.0);
    }

    #[test]
    fn a_page_has_both_matrices() {
        let a = Samples::Dense(synth::gaussian::<f64>(40, 24, 2));
        let model = Biclustering::new("rbf", 3, 2).fit(a.clone(), &Run::default()).unwrap();
        let html = clusters(&model, Some(&a), "<m>", &Run::default()).unwrap().html();
        assert!(html.contains("The matrix") && html.contains("The kernel matrix G") && html.contains("&lt;m&gt;"));
    }
}
