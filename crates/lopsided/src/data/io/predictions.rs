//! Predictions as csv.

use crate::base::error::{Error, Result};
use crate::base::finite;
use faer::MatRef;

/// Lines `id,prediction` under a header, with one more column `PREFIX_NAME` for each of `names` and each matrix of `columns`.
///
/// The matrices have a row for each id and a column for each name: probabilities, scores. Without `predictions` there is no column
/// of that name: a matrix has several for each id.
///
/// ```
/// use lopsided::data::io::predictions_csv;
///
/// let (ids, predicted, names) = (["a".to_string()], ["yes".to_string()], ["no", "yes"].map(String::from));
/// let shares = faer::mat![[0.25, 0.75]];
/// let text = predictions_csv(&ids, &predicted, &names, &[("p", shares.as_ref())])?;
/// assert_eq!(text, "id,prediction,p_no,p_yes\na,yes,0.25,0.75\n");
/// # Ok::<(), lopsided::Error>(())
/// ```
pub fn predictions_csv(
    ids: &[String],
    predictions: &[String],
    names: &[String],
    columns: &[(&str, MatRef<'_, f64>)],
) -> Result<String> {
    for (prefix, values) in columns {
        finite::check_matrix(&format!("the columns {prefix}_… of the predictions"), *values)?;
    }
    let failed = |e: csv::Error| Error::io("predictions", e.into());
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = ["id", "prediction"].map(String::from).into_iter().take(if predictions.is_empty() { 1 } else { 2 });
    let own = columns.iter().flat_map(|(prefix, _)| names.iter().map(move |name| format!("{prefix}_{name}")));
    writer.write_record(header.chain(own)).map_err(failed)?;
    for (i, id) in ids.iter().enumerate() {
        let own = columns.iter().flat_map(|(_, m)| m.row(i).iter().map(ToString::to_string));
        let start = std::iter::once(id.clone()).chain(predictions.get(i).cloned());
        writer.write_record(start.chain(own)).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|e| Error::io("predictions", e.into_error()))?;
    String::from_utf8(bytes).map_err(|e| Error::io("predictions", std::io::Error::other(e)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_and_scores_read_back() {
        let ids = ["a, b", "c"].map(String::from);
        let words = ["x", "y"].map(String::from);
        let scores = faer::mat![[0.1, -1.0], [2.0, 1e-9]];
        let text = predictions_csv(&ids, &words, &words, &[("score", scores.as_ref())]).unwrap();
        assert_eq!(text, "id,prediction,score_x,score_y\n\"a, b\",x,0.1,-1\nc,y,2,0.000000001\n");
        assert_eq!(predictions_csv(&ids[1..], &words[1..], &words, &[]).unwrap(), "id,prediction\nc,y\n");
    }
}
