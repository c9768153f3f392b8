//! How much memory may be used, and the one gate for whatever grows with a problem or with a file.
//!
//! Sizes that a file promises or a user asks for are not believed: they are multiplied without overflow ([`product`]) and
//! compared with what is allowed ([`check`]) before anything is allocated.

use crate::base::error::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// What the user allowed; 0 where nothing was said.
static ALLOWED: AtomicU64 = AtomicU64::new(0);

/// Free where no system tells.
const UNKNOWN: u64 = 8 << 30;

/// Memory that may be used: what was said by [`allow`], else 80 % of what is free now.
///
/// Free is what the system calls available, what the control groups of the process (versions 1 and 2) leave, and what is left
/// of its address space (`ulimit -v`), whichever is least; 8 GiB where nothing is known.
///
/// ```
/// assert!(lopsided::base::memory::available_memory() > 0);
/// ```
pub fn available_memory() -> u64 {
    match ALLOWED.load(Ordering::Relaxed) {
        0 => free() / 5 * 4,
        bytes => bytes,
    }
}

/// Says how much memory this process may use from now on; 0 takes it back.
pub fn allow(bytes: u64) {
    ALLOWED.store(bytes, Ordering::Relaxed);
}

/// Refuses what needs more than [`available_memory`].
///
/// ```
/// use lopsided::base::memory::{check, product};
///
/// let needed = product(&[usize::MAX, 30_000, 8]);
/// let error = check("the matrix", needed, "take fewer rows").unwrap_err();
/// assert!(error.to_string().starts_with("the matrix needs"));
/// ```
///
/// # Errors
/// [`Error::Memory`] with both numbers and the advice.
pub fn check(what: &str, needed: u64, advice: &str) -> Result<()> {
    let available = available_memory();
    if needed <= available {
        return Ok(());
    }
    Err(Error::Memory { what: what.into(), needed, available, advice: advice.into() })
}

/// The product of sizes, the largest number there is where it would be larger.
pub fn product(sizes: &[usize]) -> u64 {
    sizes.iter().fold(1, |product: u64, &size| product.saturating_mul(size as u64))
}

/// The memory allowed for something that grows while it is read: asked for once, looked at often.
#[derive(Clone, Debug)]
pub struct Meter {
    what: String,
    available: u64,
}

impl Meter {
    /// Of `what`, with [`available_memory`].
    pub fn new(what: &str) -> Self {
        Meter { what: what.into(), available: available_memory() }
    }

    /// Refuses to hold so many bytes.
    ///
    /// # Errors
    /// [`Error::Memory`] once they are more than allowed.
    pub fn holds(&self, bytes: usize) -> Result<()> {
        if bytes as u64 <= self.available {
            return Ok(());
        }
        let advice = "read fewer rows or columns, or allow more memory (memory)".into();
        Err(Error::Memory { what: self.what.clone(), needed: bytes as u64, available: self.available, advice })
    }

    /// The bytes that may be held.
    pub fn available(&self) -> u64 {
        self.available
    }
}

/// The least of all that is known.
fn free() -> u64 {
    let text = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let groups = text("/proc/self/cgroup");
    let known = [
        kilobytes(&text("/proc/meminfo"), "MemAvailable:"),
        left_in_groups(&groups, Path::new("/sys/fs/cgroup")),
        left_of_addresses(&text("/proc/self/limits"), &text("/proc/self/status")),
    ];
    known.into_iter().flatten().min().unwrap_or(UNKNOWN)
}

/// A line such as `MemAvailable:  1024 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kb| kb.saturating_mul(1024))
}

/// What the limit of the address space leaves; none without a limit.
fn left_of_addresses(limits: &str, status: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(kilobytes(status, "VmSize:").unwrap_or(0)))
}

/// What the control groups of the process and those above them leave; none without a limit.
///
/// A container often sees its own group as the root, so the root is looked at as well.
fn left_in_groups(groups: &str, root: &Path) -> Option<u64> {
    let of_line = |line: &str| {
        let mut fields = line.splitn(3, ':');
        let (_, kinds, group) = (fields.next()?, fields.next()?, fields.next()?);
        let names = if kinds.is_empty() { Names::V2 } else { Names::V1 };
        let memory = kinds.is_empty() || kinds.split(',').any(|kind| kind == "memory");
        let base = if kinds.is_empty() { root.to_owned() } else { root.join("memory") };
        memory.then(|| left_upwards(&base, group, &names)).flatten()
    };
    groups.lines().filter_map(of_line).min()
}

/// How the files of a control group are called.
enum Names {
    V1,
    V2,
}

impl Names {
    /// Limit, usage, and the part of the usage that the system gives back when it is needed.
    fn files(&self) -> [&'static str; 3] {
        match self {
            Names::V1 => ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"],
            Names::V2 => ["memory.max", "memory.current", "inactive_file"],
        }
    }
}

fn left_upwards(base: &Path, group: &str, names: &Names) -> Option<u64> {
    let mut folder: PathBuf = base.join(group.trim_start_matches('/'));
    let mut least: Option<u64> = None;
    while folder.starts_with(base) {
        least = [least, left_in(&folder, names)].into_iter().flatten().min();
        if !folder.pop() {
            break;
        }
    }
    least
}

fn left_in(folder: &Path, names: &Names) -> Option<u64> {
    let [limit, usage, cached] = names.files();
    let number = |name: &str| std::fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
    // Version 1 says "no limit" by a number near the largest.
    let limit = number(limit).filter(|limit| *limit < 1 << 62)?;
    let stat = std::fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let cached = stat.lines().find_map(|line| line.strip_prefix(cached)?.trim().parse::<u64>().ok());
    Some(limit.saturating_sub(number(usage).unwrap_or(0).saturating_sub(cached.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_do_not_overflow() {
        assert_eq!(product(&[3, 4, 8]), 96);
        assert_eq!(product(&[usize::MAX, 2]), u64::MAX);
    }

    #[test]
    fn the_address_space_counts_by_what_is_left() {
        let limits = "Limit  Soft Limit  Hard Limit  Units\nMax address space         1048576000  unlimited  bytes\n";
        assert_eq!(left_of_addresses(limits, "VmPeak: 9 kB\nVmSize:\t 1000 kB\n"), Some(1_048_576_000 - 1_024_000));
        assert_eq!(left_of_addresses(&limits.replace("1048576000", "unlimited"), ""), None);
        assert_eq!(left_of_addresses("", ""), None);
    }

    #[test]
    fn the_tightest_control_group_counts() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("a/b/memory.max", "max\n");
        put("a/memory.max", "1000\n");
        put("a/memory.current", "700\n");
        put("a/memory.stat", "anon 5\ninactive_file 200\nactive_file 100\n");
        assert_eq!(left_in_groups("0::/a/b\n", dir.path()), Some(500));
        assert_eq!(left_in_groups("0::/elsewhere\n", dir.path()), None);
        // As a container sees it: the path of the host, the files at the root.
        put("memory.max", "300\n");
        assert_eq!(left_in_groups("0::/docker/12ab\n", dir.path()), Some(300));
        put("memory/memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!(left_in_groups("4:cpu,memory:/c\n", dir.path()), None);
        put("memory/c/memory.limit_in_bytes", "200\n");
        put("memory/c/memory.usage_in_bytes", "150\n");
        put("memory/c/memory.stat", "inactive_file 1\ntotal_inactive_file 50\n");
        assert_eq!(left_in_groups("5:cpu:/x\n4:cpu,memory:/c\n0::/\n", dir.path()), Some(100));
    }

    #[test]
    fn what_grows_is_stopped() {
        let meter = Meter { what: "the table".into(), available: 100 };
        assert!(meter.holds(100).is_ok());
        assert!(meter.holds(101).unwrap_err().to_string().starts_with("the table needs 101 B but 100 B are allowed"));
    }
}
