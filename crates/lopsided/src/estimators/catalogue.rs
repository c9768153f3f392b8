//! Everything that learns, in one list.

use super::fitted::{Abilities, Fitted};
use super::recipe::{self, BICLUSTER_SETTINGS, Usual};
use super::{
    APPROXIMATION_SETTINGS, Biclustering, Estimator, KernelPca, KernelSvd, MachineErrors, NystromFeatures, Plan,
    estimators, gram,
};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::base::settings::{Setting, Settings};
use crate::data::dataset::Dataset;

/// Something that learns from a [`Dataset`], whatever comes out.
pub trait Learn<T: Scalar>: Send + Sync {
    /// Its settings, also those that nobody gave; what is found from the data is left out. A recipe makes the same from them.
    fn settings(&self) -> Settings;

    /// What [`Learn::fit`] would do, without doing it.
    fn plan(&self, data: &Dataset<T>, run: &Run) -> Result<Plan>;

    /// Learns; the samples become part of the model.
    fn fit(&self, data: Dataset<T>, run: &Run) -> Result<Fitted<T>>;

    /// How far landmarks lead away from the exact machine, where it tells. Provided: none.
    fn errors(&self, _data: &Dataset<T>, _run: &Run) -> Result<Option<MachineErrors>> {
        Ok(None)
    }
}

/// One that learns: its name, what it takes and what its models can do.
pub struct Member<T> {
    /// Name in kebab case, the same everywhere.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// The command of the program that fits it.
    pub command: &'static str,
    /// Its settings.
    pub settings: Vec<Setting>,
    /// What its models can do.
    pub can: Abilities,
    /// Whether it can learn from a file in passes, without holding it.
    pub streams: bool,
    /// What is usual for it on the nodes of a graph.
    pub nodes: Usual,
    build: Build<T>,
}

/// Makes the one called so from its settings and the data.
type Build<T> = fn(&str, Settings, &Dataset<T>) -> Result<Box<dyn Learn<T>>>;

impl<T: Scalar> Member<T> {
    /// The one of these settings for these data; whatever depends on the data is settled here.
    ///
    /// # Errors
    /// [`Error::Unknown`] and [`Error::Param`] for names and values that cannot be.
    pub fn build(&self, given: Settings, data: &Dataset<T>) -> Result<Box<dyn Learn<T>>> {
        (self.build)(self.name, given, data)
    }
}

/// All that learn. The order is the order of every listing.
///
/// ```
/// use lopsided::base::settings::Settings;
/// use lopsided::estimators::member;
/// use lopsided::{Dataset, Mat, Run, Samples};
///
/// let data = Dataset::new(Samples::Dense(Mat::from_fn(20, 3, |i, j| ((i * 5 + j * 3) % 7) as f64)));
/// let embed = member::<f64>("embed")?;
/// assert!(embed.can.transform_cols && !embed.can.predict);
/// let settings = Settings::default().with("kernel", "rbf").with("rank", 2);
/// let model = embed.build(settings, &data)?.fit(data, &Run::default())?;
/// assert_eq!(model.can(), embed.can);
/// # Ok::<(), lopsided::Error>(())
/// ```
pub fn catalogue<T: Scalar>() -> Vec<Member<T>> {
    let of_rows = Abilities { transform_rows: true, ..Abilities::default() };
    let embeds = Abilities { transform_cols: true, ..of_rows };
    let with = |own: &[Setting]| [gram::settings(), own.to_vec()].concat();
    let by_landmarks = |name, about, build: Build<T>| Member {
        name,
        about,
        command: "fit",
        settings: with(&APPROXIMATION_SETTINGS),
        can: of_rows,
        streams: true,
        nodes: Usual::COMPONENTS,
        build,
    };
    let describing = vec![
        Member {
            name: "embed",
            about: "kernel SVD: two sets of features, of the rows and of the columns",
            command: "embed",
            settings: with(&recipe::SVD_SETTINGS),
            can: embeds,
            streams: false,
            nodes: Usual::NODES,
            build: |_, given, data| Ok(Box::new(recipe::embedding(given, data, false)?)),
        },
        Member {
            name: "bicluster",
            about: "k-means on both sides of a kernel SVD of a matrix: clusters of rows and of columns",
            command: "bicluster",
            settings: with(&BICLUSTER_SETTINGS),
            can: Abilities { clusters: true, ..embeds },
            streams: false,
            nodes: Usual::CLUSTERS,
            build: |_, given, data| Ok(Box::new(recipe::biclustering::<T>(given, (data.x.count(), data.x.width()))?)),
        },
        by_landmarks("kpca", "kernel principal components of the rows, exact or by landmarks", |_, given, data| {
            Ok(Box::new(recipe::components(given, data)?))
        }),
        by_landmarks(
            "features",
            "features of landmarks, whose scalar products approximate the kernel (Nyström)",
            |_, given, data| Ok(Box::new(recipe::features(given, data)?)),
        ),
    ];
    let predicting = estimators::<T>().into_iter().map(|entry| Member {
        name: entry.name,
        about: entry.about,
        command: "fit",
        settings: entry.all_settings(),
        can: entry.can,
        streams: entry.streams,
        nodes: Usual::learning(entry.kernel, true),
        build: |name, given, data| Ok(Box::new(Predicting(recipe::estimator(name, given, data)?.1))),
    });
    predicting.chain(describing).collect()
}

/// The member called `name`.
///
/// # Errors
/// [`Error::Unknown`] with the one that may have been meant.
pub fn member<T: Scalar>(name: &str) -> Result<Member<T>> {
    let all = catalogue::<T>();
    let known = all.iter().map(|member| member.name.to_string()).collect();
    let unknown = || Error::Unknown { kind: "estimator", name: name.into(), known };
    all.into_iter().find(|member| member.name == name).ok_or_else(unknown)
}

impl<T: Scalar> Learn<T> for KernelSvd {
    fn settings(&self) -> Settings {
        self.settings()
    }

    fn plan(&self, data: &Dataset<T>, run: &Run) -> Result<Plan> {
        self.plan(data, run)
    }

    fn fit(&self, data: Dataset<T>, run: &Run) -> Result<Fitted<T>> {
        self.fit(data, run).map(Fitted::Embedding)
    }
}

impl<T: Scalar> Learn<T> for Biclustering {
    fn settings(&self) -> Settings {
        self.settings()
    }

    fn plan(&self, data: &Dataset<T>, run: &Run) -> Result<Plan> {
        self.svd.plan(&self.dataset(data.x.clone(), run)?, run)
    }

    fn fit(&self, data: Dataset<T>, run: &Run) -> Result<Fitted<T>> {
        self.fit(data.x, run).map(Fitted::Clusters)
    }
}

/// What is fitted without a target and gives components, within the memory allowed.
macro_rules! components {
    () => {
        fn settings(&self) -> Settings {
            self.settings()
        }

        fn plan(&self, data: &Dataset<T>, run: &Run) -> Result<Plan> {
            self.plan(data, run)
        }

        fn fit(&self, data: Dataset<T>, run: &Run) -> Result<Fitted<T>> {
            self.plan(&data, run)?.check()?;
            self.fit(&data, run).map(Fitted::Components)
        }
    };
}

impl<T: Scalar> Learn<T> for KernelPca {
    components!();

    fn errors(&self, data: &Dataset<T>, run: &Run) -> Result<Option<MachineErrors>> {
        MachineErrors::or_gram(self.errors(data, run), || self.gram_errors(data, run)).map(Some)
    }
}

impl<T: Scalar> Learn<T> for NystromFeatures {
    components!();

    fn errors(&self, data: &Dataset<T>, run: &Run) -> Result<Option<MachineErrors>> {
        Ok(Some(MachineErrors { solution: None, gram: self.errors(data, run)? }))
    }
}

/// An estimator that predicts.
struct Predicting<T>(Box<dyn Estimator<T>>);

impl<T: Scalar> Learn<T> for Predicting<T> {
    fn settings(&self) -> Settings {
        self.0.settings()
    }

    fn plan(&self, data: &Dataset<T>, run: &Run) -> Result<Plan> {
        self.0.plan(data, run)
    }

    fn fit(&self, data: Dataset<T>, run: &Run) -> Result<Fitted<T>> {
        self.0.fit(data, run).map(Fitted::Predictor)
    }

    fn errors(&self, data: &Dataset<T>, run: &Run) -> Result<Option<MachineErrors>> {
        self.0.errors(data, run)
    }
}
