import CStoreKit
import Glibc

/// Lets `Bundle.main.appStoreReceiptURL` say where the legacy receipt lies.
///
/// Foundation on Linux has that property, and always answers nil. An overload of the same name is ambiguous wherever
/// both modules are imported, and `Bundle` cannot be subclassed outside of Foundation. So the one entry of that getter in
/// the method table of `Bundle` is replaced when the program is loaded: ADR 17 says how, and when it is left alone.
enum BundleReceipt {
    /// Foundation's getter, as the Swift ABI mangles it.
    private static let foundationGetter = "$s10Foundation6BundleC18appStoreReceiptURL0A10Essentials0F0VSgvg"

    /// Whether `Bundle.main` answers by now.
    nonisolated(unsafe) private(set) static var isInstalled = false

    /// Only while the program is loaded, before it has a second thread.
    static func install() {
        // A program that is linked statically does not name its symbols: nothing to find, and nothing is replaced.
        guard !isInstalled, let getter = dlsym(nil, foundationGetter) else { return }
        let ours = ClassTable(BundleReceiptAnswer.self).methods
        // The optimizer replaces a method without callers with a trap.
        guard ours.count == 2, let standIn = ours.first,
            standIn != UInt(bitPattern: dlsym(nil, "swift_deletedMethodError"))
        else { return }
        let table = ClassTable(Bundle.self)
        let places = table.methods.indices.filter { table.methods[$0] == UInt(bitPattern: getter) }
        guard places.count == 1, let place = places.first else { return }
        table.methods[place] = standIn
        isInstalled = true
    }
}

/// Its getter stands in for Foundation's: the same shape, so the same calling convention. `self` is a `Bundle`, and is
/// looked at by its address only. Public, since the optimizer takes away methods of other classes without callers.
@_spi(BundleReceipt)
public class BundleReceiptAnswer {
    public var appStoreReceiptURL: URL? {
        guard ObjectIdentifier(self) == ObjectIdentifier(Bundle.main), let device = LocalStore.current else {
            return nil
        }
        device.fetchReceiptAtOnce()
        return device.receiptURL
    }

    init() {}
}

/// The words of a class's metadata, as the stable parts of the Swift ABI lay them out where there is no Objective-C:
/// seven of a header, of which the fifth holds the size and the address point, and then the methods.
private struct ClassTable {
    let methods: UnsafeMutableBufferPointer<UInt>

    init(_ type: AnyClass) {
        let words = unsafeBitCast(type, to: UnsafeMutablePointer<UInt>.self)
        let size = Int(UInt32(truncatingIfNeeded: words[4]))
        let beforeAddress = Int(UInt32(truncatingIfNeeded: words[4] >> 32))
        let count = (size - beforeAddress) / MemoryLayout<UInt>.size - Self.header
        methods = UnsafeMutableBufferPointer(start: words + Self.header, count: max(0, min(count, 1000)))
    }

    private static let header = 7
}

@_cdecl("tenure_storekit_loaded")
func storeKitLoaded() { BundleReceipt.install() }
