import Foundation

#if canImport(UIKit) && !os(watchOS) && !targetEnvironment(macCatalyst)
    import UIKit
#endif

/// Determines from the app's files how this copy was installed.
extension Tenure.Distribution {
    /// How this app was installed, read only from files in the app. An extension reads the files of the app that
    /// contains it.
    static var ofThisApp: Tenure.Distribution {
        #if os(Linux)
            // The app uses a local App Store.
            .appStore
        #else
            of(Bundle(path: BundleDescription.appPath(of: Bundle.main.bundleURL.standardizedFileURL.path)) ?? .main)
        #endif
    }

    #if !os(Linux)
        /// Determines from the app's bundle how the app was installed.
        private static func of(_ bundle: Bundle) -> Tenure.Distribution {
            // Setapp's builds have a bundle ID that ends in `-setapp`, or contain Setapp's public key.
            if bundle.bundleIdentifier?.hasSuffix("-setapp") == true
                || bundle.url(forResource: "setappPublicKey", withExtension: "pem") != nil
            {
                return .setapp
            }
            #if targetEnvironment(simulator)
                return .development
            #elseif os(macOS) || targetEnvironment(macCatalyst)
                return ofMacApp(bundle)
            #else
                // The app was signed for the devices of a developer or of an organization.
                if bundle.url(forResource: "embedded", withExtension: "mobileprovision") != nil { return .development }
                return ReceiptFile.url?.lastPathComponent == "sandboxReceipt" ? .testFlight : .appStore
            #endif
        }
    #endif
}

#if !os(Linux)
    /// The path of the legacy receipt. `appStoreReceiptURL` is deprecated, because StoreKit 2 has nearly all fields of
    /// the receipt.
    enum ReceiptFile {
        static var url: URL? { (Bundle.main as any ReceiptLocating).appStoreReceiptURL }
    }

    /// Calling a deprecated property through a protocol gives no compiler warning.
    private protocol ReceiptLocating {
        var appStoreReceiptURL: URL? { get }
    }

    extension Bundle: ReceiptLocating {}
#endif

/// The identifier of this device that a legacy receipt has in its hash, so that the receipt is valid only on this
/// device.
enum DeviceIdentifier {
    /// The vendor's ID of an iPhone or iPad, or the MAC address of a Mac. Nil on the watch and on Linux.
    static var ofReceipts: String? {
        get async {
            #if os(macOS) || targetEnvironment(macCatalyst)
                NetworkAddress.ofThisMac
            #elseif canImport(UIKit) && !os(watchOS)
                await MainActor.run { UIDevice.current.identifierForVendor?.uuidString }
            #else
                nil
            #endif
        }
    }
}
