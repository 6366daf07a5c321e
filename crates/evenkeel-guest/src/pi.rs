// SPDX-License-Identifier: GPL-2.0-only
//! A mutex with priority inheritance: a waiter of a higher class lends it to the holder.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;

/// Such a mutex, without data of its own.
pub struct Mutex(Box<UnsafeCell<libc::pthread_mutex_t>>);

// SAFETY: a pthread mutex is made to be used from several threads at once.
unsafe impl Send for Mutex {}
// SAFETY: as above.
unsafe impl Sync for Mutex {}

impl Default for Mutex {
    fn default() -> Self {
        let mutex = Box::new(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER));
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: the attributes are initialised first and destroyed last; the mutex has a fixed
        // address and is not in use yet.
        unsafe {
            libc::pthread_mutexattr_init(attributes.as_mut_ptr());
            libc::pthread_mutexattr_setprotocol(
                attributes.as_mut_ptr(),
                libc::PTHREAD_PRIO_INHERIT,
            );
            libc::pthread_mutex_init(mutex.get(), attributes.as_ptr());
            libc::pthread_mutexattr_destroy(attributes.as_mut_ptr());
        }
        Self(mutex)
    }
}

impl Mutex {
    /// Runs `body` with the mutex held.
    pub fn hold<T, F: FnOnce() -> T>(&self, body: F) -> T {
        // SAFETY: the mutex is initialised and lives as long as `self`.
        unsafe { libc::pthread_mutex_lock(self.0.get()) };
        let result = body();
        // SAFETY: as above, and this thread holds it.
        unsafe { libc::pthread_mutex_unlock(self.0.get()) };
        result
    }
}

impl Drop for Mutex {
    fn drop(&mut self) {
        // SAFETY: nobody else has a reference any more.
        unsafe { libc::pthread_mutex_destroy(self.0.get()) };
    }
}
