import CStoreKit
import Glibc

/// Makes `Bundle.main.appStoreReceiptURL` return the URL of the legacy receipt.
/// Foundation on Linux has that property, and always returns nil. An overload is ambiguous if both modules are
/// imported, and `Bundle` can't be subclassed outside of Foundation. So the getter's entry in the method table of
/// `Bundle` is replaced when the program is loaded. ADR 17 says how, and when it isn't.
enum BundleReceipt {
    /// Foundation's getter, as the Swift ABI mangles it.
    private static let foundationGetter = "$s10Foundation6BundleC18appStoreReceiptURL0A10Essentials0F0VSgvg"

    /// Whether `Bundle.main` already answers.
    nonisolated(unsafe) private(set) static var isInstalled = false

    /// Only while the program is loaded, before it has a second thread.
    static func install() {
        // A statically linked program doesn't name its symbols: nothing is found, and nothing is replaced.
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

/// Replaces Foundation's getter. It has the same shape, so the same calling convention. `self` is a `Bundle`, and only
/// its address is used. It is public because the optimizer removes methods of other classes without callers.
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

/// The words of a class's metadata, in the layout of the stable Swift ABI without Objective-C: a header of seven words,
/// then the methods. The fifth word of the header has the size and the address point.
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
