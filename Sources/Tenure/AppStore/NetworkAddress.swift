import TenureJSON

// Receipts of Mac Catalyst apps are hashed with the MAC address, too. iOS has a module IOKit without these functions.
#if os(macOS) || targetEnvironment(macCatalyst)
    import Darwin
    import Foundation
    import IOKit

    /// The device's identifier in the hash of a Mac's receipt: the MAC address of the built-in network interface, found
    /// as in "Validating receipts on the device" in Apple's documentation.
    enum NetworkAddress {
        /// The address in hexadecimal. Nil if the Mac has no such network interface.
        static var ofThisMac: String? {
            guard let service = primary() else { return nil }
            defer { IOObjectRelease(service) }
            let address = IORegistryEntrySearchCFProperty(
                service, kIOServicePlane, "IOMACAddress" as CFString, kCFAllocatorDefault,
                IOOptionBits(kIORegistryIterateRecursively | kIORegistryIterateParents))
            guard let bytes = address as? Data, bytes.count == 6 else { return nil }
            return bytes.hexadecimal
        }

        /// The default port: the same value as the newer constant `kIOMainPortDefault`.
        private static let mainPort = mach_port_t(MACH_PORT_NULL)

        /// Returns `en0` if it is built in, otherwise a built-in `en1`, which some older Macs have. If neither is built
        /// in, returns `en0` anyway.
        private static func primary() -> io_service_t? {
            service(named: "en0", builtIn: true) ?? service(named: "en1", builtIn: true)
                ?? service(named: "en0", builtIn: false)
        }

        /// Returns the network interface with this name, such as `en0`, if its property `IOBuiltin` equals `builtIn`.
        /// Otherwise nil.
        private static func service(named name: String, builtIn: Bool) -> io_service_t? {
            guard let matching = IOBSDNameMatching(mainPort, 0, name) else { return nil }
            var iterator = io_iterator_t()
            guard IOServiceGetMatchingServices(mainPort, matching as CFDictionary, &iterator) == KERN_SUCCESS
            else { return nil }
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
