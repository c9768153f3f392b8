//! Images as points: blocks of pixels in the coordinates of the discrete cosine transform.

use crate::base::error::{Error, Result};
use faer::{Mat, MatRef};
use std::f64::consts::PI;

/// Pixels along each side of a block.
pub const BLOCK: usize = 8;

/// The 8 × 8 blocks of a grey image, `step` pixels apart, each as the 64 coefficients of its discrete cosine transform
/// (DCT-II, orthonormal), one block per row; the first coefficient is 8 times the mean. The points \[AsKLS\] §4.1 makes of
/// an image.
///
/// With the orthonormal cosines W of eight frequencies a block B becomes W·B·Wᵀ, whose entries are read row by
/// row. Blocks overlap for steps below 8; pixels at the border that fill no block are left out.
///
/// A grey image without structure has nothing but its mean:
///
/// ```
/// use lopsided::Mat;
/// use lopsided::estimators::distributions::cosine_blocks;
///
/// let image = Mat::from_fn(16, 8, |_, _| 3.0);
/// let blocks = cosine_blocks(image.as_ref(), 8)?;
/// assert_eq!(blocks.shape(), (2, 64));
/// assert!((blocks[(0, 0)] - 24.0).abs() < 1e-12 && blocks[(1, 5)].abs() < 1e-12);
/// # Ok::<(), lopsided::Error>(())
/// ```
///
/// # Errors
/// [`Error::Param`] for a step of 0, [`Error::Shape`] for an image without any block.
pub fn cosine_blocks(image: MatRef<'_, f64>, step: usize) -> Result<Mat<f64>> {
    let (n, m) = image.shape();
    if step == 0 {
        return Err(Error::param("step", step, "at least 1"));
    }
    if n.min(m) < BLOCK {
        return Err(Error::shape("the image", format!("at least {BLOCK} x {BLOCK}"), format!("{n} x {m}")));
    }
    let waves = waves();
    let (down, across) = ((n - BLOCK) / step + 1, (m - BLOCK) / step + 1);
    let mut out = Mat::zeros(down * across, BLOCK * BLOCK);
    for at in 0..down * across {
        let corner = (at / across * step, at % across * step);
        let transformed = &waves * image.submatrix(corner.0, corner.1, BLOCK, BLOCK) * waves.transpose();
        (0..BLOCK * BLOCK).for_each(|k| out[(at, k)] = transformed[(k / BLOCK, k % BLOCK)]);
    }
    Ok(out)
}

/// Orthonormal cosines, one frequency per row.
fn waves() -> Mat<f64> {
    let size = BLOCK as f64;
    Mat::from_fn(BLOCK, BLOCK, |frequency, i| {
        let length = if frequency == 0 { (1.0 / size).sqrt() } else { (2.0 / size).sqrt() };
        length * (PI * (i as f64 + 0.5) * frequency as f64 / size).cos()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synth;

    #[test]
    fn lengths_are_kept_and_flat_blocks_have_one_coefficient() {
        let image = synth::gaussian::<f64>(12, 20, 5);
        let blocks = cosine_blocks(image.as_ref(), 4).unwrap();
        assert_eq!(blocks.shape(), (8, 64));
        let last = image.submatrix(4, 12, 8, 8);
        assert!((blocks.row(7).norm_l2() - last.norm_l2()).abs() < 1e-12);
        let flat = cosine_blocks(Mat::from_fn(8, 8, |_, _| 3.0).as_ref(), 8).unwrap();
        assert!((flat[(0, 0)] - 24.0).abs() < 1e-12 && (flat.norm_l2() - 24.0).abs() < 1e-12);
    }

    #[test]
    fn images_without_a_block_are_refused() {
        assert!(cosine_blocks(Mat::zeros(7, 20).as_ref(), 8).is_err());
        assert!(cosine_blocks(Mat::zeros(8, 8).as_ref(), 0).is_err());
    }
}
