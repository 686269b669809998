// Apple platforms: compiled on the Mac alone, and nowhere in this project's CI on Linux.
#if os(macOS)
    import Foundation
    import IOKit
    import TenureCore

    /// What a receipt's hash was made with on a Mac: the address of its built-in network interface, as "Validating receipts on
    /// the device" in Apple's documentation finds it.
    enum NetworkAddress {
        /// In hexadecimal; nil where there is no such interface.
        static var ofThisMac: String? {
            guard let service = primary() else { return nil }
            defer { IOObjectRelease(service) }
            let address = IORegistryEntrySearchCFProperty(
                service, kIOServicePlane, "IOMACAddress" as CFString, kCFAllocatorDefault,
                IOOptionBits(kIORegistryIterateRecursively | kIORegistryIterateParents))
            guard let bytes = address as? Data, bytes.count == 6 else { return nil }
            return bytes.hexadecimal
        }

        /// `en0` where it is built in; older Macs have it as `en1`.
        private static func primary() -> io_service_t? {
            service(named: "en0", builtIn: true) ?? service(named: "en1", builtIn: true)
                ?? service(named: "en0", builtIn: false)
        }

        private static func service(named name: String, builtIn: Bool) -> io_service_t? {
            guard let matching = IOBSDNameMatching(kIOMainPortDefault, 0, name) else { return nil }
            var iterator = io_iterator_t()
            guard IOServiceGetMatchingServices(kIOMainPortDefault, matching as CFDictionary, &iterator) == KERN_SUCCESS
            else {
                return nil
            }
            defer { IOObjectRelease(iterator) }
            var candidate = IOIteratorNext(iterator)
            while candidate != IO_OBJECT_NULL {
                let property = IORegistryEntryCreateCFProperty(
                    candidate, "IOBuiltin" as CFString, kCFAllocatorDefault, 0)
                if (property?.takeRetainedValue() as? Bool ?? false) == builtIn { return candidate }
                IOObjectRelease(candidate)
                candidate = IOIteratorNext(iterator)
            }
            return nil
        }
    }
#endif
