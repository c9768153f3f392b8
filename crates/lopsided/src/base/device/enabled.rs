//! Cards through their driver.
//!
//! All that talks to the driver and cannot be checked by the compiler is here: whoever launches a kernel hands over buffers
//! that are as long as the kernel reads and writes, which `operator::device` computes in one place.

use super::Card;
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute, CUfunction_attribute, CUresult};
use cudarc::driver::{
    CudaContext, CudaEvent, CudaFunction, CudaSlice, CudaStream, DeviceRepr, LaunchConfig, PushKernelArg,
};
use cudarc::nvrtc::Ptx;
use std::collections::HashMap;
use std::io::{Cursor, Read};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The compiled kernels, and what they were compiled from.
const KERNELS: &[u8] = include_bytes!("../../../cuda/kernels.zip");
/// The version of CUDA that the kernels were compiled with, which the driver has to know.
const LEAST: (i32, i32) = (12, 4);
/// The least compute capability.
const CAPABLE: (i32, i32) = (8, 0);

/// All cards, or why there are none; looked for once.
pub(super) fn found() -> std::result::Result<Vec<Card>, String> {
    static FOUND: OnceLock<std::result::Result<Vec<Card>, String>> = OnceLock::new();
    FOUND.get_or_init(look).clone()
}

#[expect(unsafe_code, reason = "the driver's functions are foreign")]
fn look() -> std::result::Result<Vec<Card>, String> {
    // SAFETY: it opens the driver's library and closes it again; the functions of a missing one are never called.
    if !unsafe { sys::is_culib_present() } {
        return Err("no NVIDIA driver is found on this machine".into());
    }
    let mut version = 0;
    // SAFETY: the function writes one number to the place it is given.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }.result().map_err(reason)?;
    let driver = (version / 1000, version % 1000 / 10);
    if driver < LEAST {
        let (major, minor) = driver;
        return Err(format!(
            "its driver supports CUDA {major}.{minor}, but {}.{} is needed: update it",
            LEAST.0, LEAST.1
        ));
    }
    result::init().map_err(reason)?;
    let count = result::device::get_count().map_err(reason)?;
    let cards: Vec<Card> =
        (0..count).map(|number| card(number, driver)).collect::<std::result::Result<_, _>>().map_err(reason)?;
    match cards.iter().all(|card| card.capability < CAPABLE) {
        true if cards.is_empty() => Err("the driver finds no card".into()),
        true => Err(format!("no card has compute capability {}.{} or more", CAPABLE.0, CAPABLE.1)),
        false => Ok(cards),
    }
}

#[expect(unsafe_code, reason = "the driver's functions are foreign")]
fn card(number: i32, driver: (i32, i32)) -> std::result::Result<Card, DriverError> {
    let device = result::device::get(number)?;
    // SAFETY: the device is one that the driver has just named, here and below.
    let attribute = |which| unsafe { result::device::get_attribute(device, which) };
    Ok(Card {
        device: format!("cuda:{number}"),
        name: result::device::get_name(device)?,
        // SAFETY: as above.
        memory: unsafe { result::device::total_mem(device) }? as u64,
        capability: (
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        driver,
        processors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?.max(1) as usize,
    })
}

/// A sentence about what the driver says.
fn reason(error: DriverError) -> String {
    match error.0 {
        CUresult::CUDA_ERROR_NO_DEVICE => "the driver finds no card".into(),
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => "its memory is full".into(),
        CUresult::CUDA_ERROR_NOT_INITIALIZED => {
            "it cannot be used in a process that was forked from one that uses it: start new ones (spawn)".into()
        }
        _ => match error.error_string() {
            Ok(text) => format!("the driver says: {}", text.to_string_lossy()),
            Err(_) => format!("the driver says: error {:?}", error.0),
        },
    }
}

/// A card at work: its context, one stream of work in order, and the kernels that were loaded.
pub(crate) struct Worker {
    pub(crate) card: Card,
    /// Bytes of shared memory that a block may have.
    pub(crate) shared: usize,
    native: bool,
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    kernels: Mutex<HashMap<String, CudaFunction>>,
}

/// Memory of a card; freed in the order of its work.
pub(crate) struct Buffer(CudaSlice<u8>);

/// An argument of a kernel.
pub(crate) enum Argument<'a> {
    Buffer(&'a Buffer),
    Int(i32),
    Float(f32),
    Double(f64),
    Shape(&'a Shape),
}

/// The sizes of a product, as the kernels have them in `cuda/values.cu`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Shape {
    pub(crate) scale: f32,
    pub(crate) shift: f32,
    pub(crate) degree: i32,
    pub(crate) depth: i32,
    pub(crate) stages: i32,
    pub(crate) buffers: i32,
    pub(crate) resident: i32,
    pub(crate) first: i32,
    pub(crate) tiles: i32,
    pub(crate) share: i32,
    pub(crate) height: i32,
}

// SAFETY: numbers of four bytes in the order of the kernels' own structure.
#[expect(unsafe_code, reason = "says that it may be handed to a kernel")]
unsafe impl DeviceRepr for Shape {}

type Workers = HashMap<(u32, usize), Arc<Worker>>;

/// The worker of a card; made once for each process, as a forked one cannot use its parent's.
pub(crate) fn worker(number: usize) -> Result<Arc<Worker>> {
    static WORKERS: Mutex<Option<Workers>> = Mutex::new(None);
    let card = super::card(number)?;
    let mut workers = WORKERS.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (std::process::id(), number);
    let workers = workers.get_or_insert_default();
    if let Some(known) = workers.get(&key) {
        return Ok(Arc::clone(known));
    }
    let made = Arc::new(Worker::new(number, card)?);
    // What a parent process made is not ours to release.
    workers.drain().filter(|((process, _), _)| *process != key.0).for_each(|(_, old)| std::mem::forget(old));
    workers.insert(key, Arc::clone(&made));
    Ok(made)
}

impl Worker {
    #[expect(unsafe_code, reason = "the driver's functions are foreign")]
    fn new(number: usize, card: Card) -> Result<Self> {
        if card.capability < CAPABLE {
            let (major, minor) = card.capability;
            let reason =
                format!("its compute capability is {major}.{minor}, but {}.{} is needed", CAPABLE.0, CAPABLE.1);
            return Err(Error::Device { device: card.device, reason });
        }
        let said = |error: DriverError| Error::Device { device: card.device.clone(), reason: reason(error) };
        let context = CudaContext::new(number).map_err(said)?;
        // SAFETY: there is one stream for all work of this context, in whose order everything is done.
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream().map_err(said)?;
        let shared = Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
        let shared = context.attribute(shared).map_err(said)?.max(0) as usize;
        let portable = std::env::var_os("LOPSIDED_KERNELS").is_some_and(|wish| wish == "portable");
        let native = card.capability == (9, 0) && !portable;
        Ok(Worker { card, shared, native, context, stream, kernels: Mutex::default() })
    }

    /// Whether the kernels for this very chip are used, and not those for any (`LOPSIDED_KERNELS=portable`, for tests).
    pub(crate) fn is_native(&self) -> bool {
        self.native
    }

    /// Bytes of memory that are free.
    pub(crate) fn free(&self) -> Result<u64> {
        self.said(self.context.mem_get_info()).map(|(free, _)| free as u64)
    }

    /// Memory for so many bytes, with anything in it.
    #[expect(unsafe_code, reason = "what is in new memory is not known")]
    pub(crate) fn buffer(&self, bytes: usize) -> Result<Buffer> {
        // SAFETY: bytes have no wrong values, and kernels write what is read later.
        self.said(unsafe { self.stream.alloc::<u8>(bytes.max(1)) }).map(Buffer)
    }

    /// Numbers to bytes `at` and after.
    pub(crate) fn upload<T: Scalar>(&self, from: &[T], to: &mut Buffer, at: usize) -> Result<()> {
        let bytes = bytes(from);
        self.said(self.stream.memcpy_htod(bytes, &mut to.0.slice_mut(at..at + bytes.len())))
    }

    /// Numbers from bytes `at` and after.
    pub(crate) fn download<T: Scalar>(&self, from: &Buffer, at: usize, to: &mut [T]) -> Result<()> {
        let bytes = bytes_mut(to);
        self.said(self.stream.memcpy_dtoh(&from.0.slice(at..at + bytes.len()), bytes))?;
        self.finish()
    }

    /// Numbers in memory of their own.
    pub(crate) fn uploaded<T: Scalar>(&self, from: &[T]) -> Result<Buffer> {
        let mut out = self.buffer(size_of_val(from))?;
        self.upload(from, &mut out, 0)?;
        Ok(out)
    }

    /// Waits until all is done.
    pub(crate) fn finish(&self) -> Result<()> {
        self.said(self.stream.synchronize())
    }

    /// A mark in the stream of work.
    pub(crate) fn mark(&self) -> Result<CudaEvent> {
        self.said(self.stream.record_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT)))
    }

    /// Seconds between two marks that were passed.
    pub(crate) fn seconds(&self, from: &CudaEvent, to: &CudaEvent) -> Result<f64> {
        self.said(from.elapsed_ms(to)).map(|milliseconds| f64::from(milliseconds) / 1000.0)
    }

    /// Puts a kernel behind the work so far: `function` of the entry `name` of the archive.
    #[expect(unsafe_code, reason = "kernels are not known to the compiler")]
    pub(crate) fn launch(
        &self,
        (name, function): (&str, &str),
        (grid, threads, shared): ((usize, usize), usize, usize),
        arguments: &[Argument<'_>],
    ) -> Result<()> {
        let kernel = self.kernel(name, function, shared)?;
        let mut launch = self.stream.launch_builder(&kernel);
        for argument in arguments {
            match argument {
                Argument::Buffer(buffer) => launch.arg(&buffer.0),
                Argument::Int(value) => launch.arg(value),
                Argument::Float(value) => launch.arg(value),
                Argument::Double(value) => launch.arg(value),
                Argument::Shape(shape) => launch.arg(*shape),
            };
        }
        let grid_dim = (grid.0 as u32, grid.1 as u32, 1);
        let config = LaunchConfig { grid_dim, block_dim: (threads as u32, 1, 1), shared_mem_bytes: shared as u32 };
        // SAFETY: `operator::device` gives each kernel the arguments of its declaration, and buffers of the sizes it uses.
        self.said(unsafe { launch.launch(config) }).map(|_| ())
    }

    /// A kernel, loaded when it is first asked for.
    fn kernel(&self, name: &str, function: &str, shared: usize) -> Result<CudaFunction> {
        let key = format!("{name}/{function}");
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kernels.get(&key) {
            return Ok(known.clone());
        }
        let target = if self.is_native() { "sm_90a" } else { "ptx" };
        let code = entry(&format!("{name}.{target}"));
        let code = match code {
            Some(code) if target == "ptx" => Ptx::from_src(String::from_utf8_lossy(&code).into_owned()),
            Some(code) => Ptx::from_binary(code),
            None => return Err(self.fault(format!("there is no kernel {name} for it"))),
        };
        let kernel = self.said(self.context.load_module(code).and_then(|module| module.load_function(function)))?;
        if shared > 0 {
            let most = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            self.said(kernel.set_attribute(most, self.shared as i32))?;
        }
        kernels.insert(key, kernel.clone());
        Ok(kernel)
    }

    fn fault(&self, reason: String) -> Error {
        Error::Device { device: self.card.device.clone(), reason }
    }

    fn said<R>(&self, result: std::result::Result<R, DriverError>) -> Result<R> {
        result.map_err(|error| self.fault(reason(error)))
    }
}

/// An entry of the archive of kernels.
fn entry(name: &str) -> Option<Vec<u8>> {
    let mut archive = zip::ZipArchive::new(Cursor::new(KERNELS)).ok()?;
    let mut file = archive.by_name(name).ok()?;
    let mut code = Vec::with_capacity(file.size() as usize);
    file.read_to_end(&mut code).ok()?;
    Some(code)
}

#[expect(unsafe_code, reason = "numbers as bytes")]
fn bytes<T: Scalar>(values: &[T]) -> &[u8] {
    // SAFETY: T is f32 or f64, whose bytes are all there and may have any value; the length is theirs.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

#[expect(unsafe_code, reason = "numbers as bytes")]
fn bytes_mut<T: Scalar>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: as above; any bytes are a number, and nobody else has them while they are borrowed.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The checksum of the kernels' sources, as `cuda/build.py` makes it.
    fn checksum() -> String {
        let mut crc = flate2::Crc::new();
        for source in ["build.py", "double.cu", "hopper.cu", "portable.cu", "tools.cu", "values.cu"] {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("cuda").join(source);
            crc.update(&std::fs::read(path).unwrap());
        }
        format!("{:08x}", crc.sum())
    }

    #[test]
    fn the_embedded_kernels_belong_to_their_sources() {
        let told = String::from_utf8(entry("sources").unwrap()).unwrap();
        assert_eq!(told, checksum(), "compile the kernels again: python3 crates/lopsided/cuda/build.py");
    }

    #[test]
    fn every_kernel_is_there_for_both_targets() {
        for name in ["tools-float", "tools-double", "double-largest", "double-power-128", "half1-inverse-24"] {
            assert!(entry(&format!("{name}.ptx")).is_some(), "{name}");
        }
        assert!(entry("half2-exponential-24-1-3.sm_90a").is_some() && entry("double-inverse-16.sm_90a").is_some());
        assert!(KERNELS.len() < 3 << 20);
    }

    #[test]
    fn a_missing_driver_is_one_sentence() {
        // Whatever this machine has, asking must neither panic nor say nothing.
        match found() {
            Ok(cards) => assert!(!cards.is_empty()),
            Err(reason) => assert!(!reason.is_empty() && !reason.ends_with('.')),
        }
    }
}
