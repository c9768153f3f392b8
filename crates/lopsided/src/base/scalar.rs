//! The two precisions: `f64` and `f32`.

use crate::base::exp::VectorExp;
use faer::{MatMut, MatRef};
use std::fmt::{Debug, Display};

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A real number type the library computes in: `f32` or `f64`.
///
/// The trait is sealed; everything else is generic over this one parameter. `f32` halves the memory and makes kernel
/// values faster; residuals near its rounding, about 1e-6, are out of its reach.
///
/// ```
/// use lopsided::Scalar;
///
/// fn mean<T: Scalar>(values: &[T]) -> T {
///     values.iter().copied().sum::<T>() / T::of(values.len() as f64)
/// }
/// assert_eq!((mean(&[1.0_f32, 2.0]), mean(&[1.0_f64, 2.0])), (1.5, 1.5));
/// assert_eq!((f32::NAME, f32::BYTES, f64::BYTES), ("f32", 4, 8));
/// assert_eq!(f64::from_bytes(&f64::to_bytes(&[0.1, 2.0])), [0.1, 2.0]);
/// ```
pub trait Scalar:
    sealed::Sealed
    + faer::traits::RealField
    + num_traits::Float
    + num_traits::NumAssign
    + std::iter::Sum
    + Copy
    + Default
    + Debug
    + Display
    + Send
    + Sync
    + 'static
{
    /// `"f32"` or `"f64"`, as written on the command line and in saved models.
    const NAME: &'static str;
    /// Bytes of one number.
    const BYTES: usize = size_of::<Self>();

    /// The number closest to an `f64`.
    fn of(value: f64) -> Self;
    /// The value as `f64`.
    fn as_f64(self) -> f64;
    /// The distance from 1 to the next number, as `f64`: 2⁻²³ or 2⁻⁵².
    fn eps() -> f64;
    /// `values[i] ← exp(f(values[i], others[i]))` in one vectorised pass, within two units in the last place.
    ///
    /// ```
    /// use lopsided::Scalar;
    ///
    /// let mut values = [0.0, 1.0];
    /// f64::exp_zip(&mut values, &[0.0, 3.0], |own, other| own - other);
    /// assert!(values[0] == 1.0 && (values[1] - (-2.0_f64).exp()).abs() < 1e-15);
    /// ```
    fn exp_zip(values: &mut [Self], others: &[Self], f: impl Fn(Self, Self) -> Self);
    /// A matrix of `f64` as one of this type, where it is `f64`.
    fn same(matrix: MatRef<'_, f64>) -> Option<MatRef<'_, Self>>;
    /// The same for a matrix to be written.
    fn same_mut(matrix: MatMut<'_, f64>) -> Option<MatMut<'_, Self>>;
    /// Little-endian bytes of a slice.
    fn to_bytes(values: &[Self]) -> Vec<u8> {
        let mut bytes = vec![0; size_of_val(values)];
        Self::write_bytes(values.iter().copied(), &mut bytes);
        bytes
    }
    /// Little-endian bytes of as many numbers as there is room for.
    fn write_bytes(values: impl Iterator<Item = Self>, bytes: &mut [u8]);
    /// The inverse of [`Scalar::to_bytes`]; trailing bytes that do not fill a number are ignored.
    fn from_bytes(bytes: &[u8]) -> Vec<Self> {
        let mut values = Vec::with_capacity(bytes.len() / Self::BYTES);
        Self::append_bytes(bytes, &mut values);
        values
    }
    /// The same added to a list.
    fn append_bytes(bytes: &[u8], values: &mut Vec<Self>);
}

macro_rules! scalar {
    ($t:ty, $name:literal, $same:expr) => {
        impl Scalar for $t {
            const NAME: &'static str = $name;

            #[inline]
            #[allow(clippy::cast_lossless)]
            fn of(value: f64) -> Self {
                value as $t
            }
            #[inline]
            #[allow(clippy::cast_lossless)]
            fn as_f64(self) -> f64 {
                self as f64
            }
            fn eps() -> f64 {
                <$t>::EPSILON.as_f64()
            }
            fn exp_zip(values: &mut [Self], others: &[Self], f: impl Fn(Self, Self) -> Self) {
                VectorExp::exp_zip(values, others, f);
            }
            fn same(matrix: MatRef<'_, f64>) -> Option<MatRef<'_, Self>> {
                $same(matrix)
            }
            fn same_mut(matrix: MatMut<'_, f64>) -> Option<MatMut<'_, Self>> {
                $same(matrix)
            }
            fn write_bytes(values: impl Iterator<Item = Self>, bytes: &mut [u8]) {
                let (words, _) = bytes.as_chunks_mut::<{ size_of::<$t>() }>();
                words.iter_mut().zip(values).for_each(|(word, v)| *word = v.to_le_bytes());
            }
            fn append_bytes(bytes: &[u8], values: &mut Vec<Self>) {
                let (words, _) = bytes.as_chunks::<{ size_of::<$t>() }>();
                values.extend(words.iter().map(|w| <$t>::from_le_bytes(*w)));
            }
        }
    };
}

scalar!(f32, "f32", |_| None);
scalar!(f64, "f64", Some);
