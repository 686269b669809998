import Foundation

#if os(macOS) || targetEnvironment(macCatalyst)
    import Security
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

    /// Returns how a Mac app with a receipt was installed.
    ///
    /// The receipt's type decides. If the type can't be read, the certificate that signed the app decides. A
    /// provisioning profile proves nothing, because App Store builds with restricted entitlements have a profile, too.
    static func ofMacApp(receipt: Data?, isSignedByTestFlight: () -> Bool) -> Tenure.Distribution {
        switch receipt.flatMap({ ReceiptAttributes($0)?.type }) {
        case "Production", "ProductionVPP": .appStore
        case "ProductionSandbox", "ProductionVPPSandbox", "Sandbox": .testFlight
        case "Xcode": .development
        default: isSignedByTestFlight() ? .testFlight : .appStore
        }
    }

    #if os(macOS) || targetEnvironment(macCatalyst)
        /// Determines from the receipt and the signature of the app how it was installed.
        static func ofMacApp(_ bundle: Bundle) -> Tenure.Distribution {
            let receipt = bundle.bundleURL.appendingPathComponent("Contents/_MASReceipt/receipt")
            if FileManager.default.fileExists(atPath: receipt.path) {
                return ofMacApp(receipt: try? Data(contentsOf: receipt)) { isSignedByTestFlight(bundle) }
            }
            #if DEBUG
                return .development
            #else
                return .direct
            #endif
        }

        /// Whether the certificate that signed the app has the extension that marks certificates of TestFlight.
        private static func isSignedByTestFlight(_ bundle: Bundle) -> Bool {
            let marker = "anchor apple generic and certificate leaf[field.1.2.840.113635.100.6.1.25.1]" as CFString
            var code: SecStaticCode?
            var requirement: SecRequirement?
            guard SecStaticCodeCreateWithPath(bundle.bundleURL as CFURL, [], &code) == errSecSuccess, let code,
                SecRequirementCreateWithString(marker, [], &requirement) == errSecSuccess
            else { return false }
            // Check only who signed the app. Hashing everything in the app would take too long at launch.
            let flags = SecCSFlags(rawValue: kSecCSBasicValidateOnly)
            return SecStaticCodeCheckValidity(code, flags, requirement) == errSecSuccess
        }
    #endif
}

#if !os(Linux)
    /// The URL of the legacy receipt. `appStoreReceiptURL` is deprecated, because StoreKit 2 has nearly all fields of
    /// the receipt.
    enum ReceiptFile {
        static var url: URL? { (Bundle.main as any ReceiptLocating).appStoreReceiptURL }
    }

    /// Calling a deprecated property through a protocol gives no compiler warning.
    private protocol ReceiptLocating { var appStoreReceiptURL: URL? { get } }

    extension Bundle: ReceiptLocating {}
#endif
