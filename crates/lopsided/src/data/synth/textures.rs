use crate::base::error::{Error, Result};
use crate::base::random::{self, Purpose, normal};
use faer::Mat;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::f64::consts::{PI, TAU};

/// Pixels along each side of a patch of one texture.
const PATCH: usize = 16;
/// Shares of the textures c, c + 1 and c + 2 in images of class c.
const SHARES: [f64; 2] = [0.5, 0.75];

/// Grey images of patches, for kernels between distributions.
///
/// There are as many textures as classes: gratings of different directions and wavelengths, with a phase and strength of its
/// own in every patch. Half of the patches of class c have texture c, a quarter each the next two textures (modulo the number
/// of classes), so that neighbouring classes share textures. Noise is added to every pixel.
///
/// \[AsKLS\] §4.1 learns with the KL kernel between mixtures of Gaussians fitted to blocks of photographs; these images
/// take their place in [`crate::estimators::distributions`].
///
/// ```
/// use lopsided::data::synth::TexturedImages;
///
/// let recipe = TexturedImages { classes: 4, per_class: 1, size: 32, noise: 0.0, seed: 1 };
/// let (images, classes) = recipe.generate()?;
/// assert_eq!((classes, images[0].shape()), (vec![0, 1, 2, 3], (32, 32)));
/// assert!(images.iter().all(|image| image.norm_max() <= 1.0)); // amplitudes of at most 1, no noise
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TexturedImages {
    /// Number of classes, at least 4.
    pub classes: usize,
    /// Images of each class.
    pub per_class: usize,
    /// Pixels along each side, a multiple of 16.
    pub size: usize,
    /// Standard deviation of the noise; the gratings have amplitudes of 0.5 to 1.
    pub noise: f64,
    /// Seed.
    pub seed: u64,
}

impl Default for TexturedImages {
    fn default() -> Self {
        TexturedImages { classes: 10, per_class: 20, size: 64, noise: 2.0, seed: 1 }
    }
}

impl TexturedImages {
    /// The images, and the class of each, one class after another.
    ///
    /// # Errors
    /// [`Error::Param`] for a parameter outside its range.
    pub fn generate(&self) -> Result<(Vec<Mat<f64>>, Vec<u32>)> {
        self.check()?;
        let mut rng = random::generator(self.seed, Purpose::Textures);
        let classes: Vec<u32> = (0..self.classes * self.per_class).map(|i| (i / self.per_class) as u32).collect();
        let images = classes.iter().map(|&class| self.image(class as usize, &mut rng)).collect();
        Ok((images, classes))
    }

    fn check(&self) -> Result<()> {
        if self.classes < 4 {
            return Err(Error::param("classes", self.classes, "at least 4"));
        }
        if self.per_class == 0 {
            return Err(Error::param("per_class", self.per_class, "at least 1"));
        }
        if self.size == 0 || !self.size.is_multiple_of(PATCH) {
            return Err(Error::param("size", self.size, format!("a multiple of {PATCH}")));
        }
        if !(self.noise.is_finite() && self.noise >= 0.0) {
            return Err(Error::param("noise", self.noise, "a number of at least 0"));
        }
        Ok(())
    }

    /// An image, patch by patch: first the texture is drawn, then its phase and strength, then the noise of each pixel.
    fn image(&self, class: usize, rng: &mut ChaCha8Rng) -> Mat<f64> {
        let mut image = Mat::zeros(self.size, self.size);
        for top in (0..self.size).step_by(PATCH) {
            for left in (0..self.size).step_by(PATCH) {
                let draw: f64 = rng.random();
                let next = SHARES.iter().filter(|share| draw >= **share).count();
                let grating = Grating::random((class + next) % self.classes, self.classes, rng);
                for i in top..top + PATCH {
                    (left..left + PATCH).for_each(|j| image[(i, j)] = grating.at(i, j) + self.noise * normal(rng));
                }
            }
        }
        image
    }
}

/// strength · sin(down·i + across·j + phase).
struct Grating {
    down: f64,
    across: f64,
    phase: f64,
    strength: f64,
}

impl Grating {
    fn random(texture: usize, textures: usize, rng: &mut ChaCha8Rng) -> Self {
        let angle = PI * texture as f64 / textures as f64;
        // Multiples of the golden ratio keep the wavelengths of neighbouring directions apart.
        let frequency = TAU * (0.08 + 0.25 * (texture as f64 * 0.618_034).fract());
        let (phase, strength) = (TAU * rng.random::<f64>(), 0.5 + 0.5 * rng.random::<f64>());
        Grating { down: frequency * angle.cos(), across: frequency * angle.sin(), phase, strength }
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.strength * (self.down * i as f64 + self.across * j as f64 + self.phase).sin()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_seeded_and_have_the_strength_they_should() {
        let recipe = TexturedImages { per_class: 2, noise: 0.0, ..TexturedImages::default() };
        let (images, classes) = recipe.generate().unwrap();
        assert_eq!((images.len(), classes[0], classes[19]), (20, 0, 9));
        assert_eq!(images, recipe.generate().unwrap().0);
        assert_ne!(images, TexturedImages { seed: 2, ..recipe }.generate().unwrap().0);
        let largest = images.iter().map(Mat::norm_max).fold(0.0, f64::max);
        assert!((0.9..=1.0).contains(&largest), "{largest}");
    }

    #[test]
    fn impossible_numbers_are_refused() {
        let fine = TexturedImages::default();
        for bad in [
            TexturedImages { classes: 3, ..fine.clone() },
            TexturedImages { per_class: 0, ..fine.clone() },
            TexturedImages { size: 60, ..fine.clone() },
            TexturedImages { noise: f64::NAN, ..fine.clone() },
        ] {
            assert!(bad.generate().is_err());
        }
    }
}
