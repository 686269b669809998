// What Apple's Foundation has and Foundation on Linux does not. `Scripts/apple-check` turns `import Foundation` into
// `import AppleFoundation`.

@_exported import CoreFoundation
@_exported import Darwin
@_exported import Foundation
@_exported import FoundationNetworking

extension Bundle {
    public var appStoreReceiptURL: URL? { nil }
}

extension FileManager {
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? { nil }
}

extension NSNotification.Name {
    #if os(iOS) || os(tvOS) || os(visionOS) || os(watchOS)
        public static let NSExtensionHostDidBecomeActive = NSNotification.Name("NSExtensionHostDidBecomeActive")
        public static let NSExtensionHostWillEnterForeground = NSNotification.Name("NSExtensionHostWillEnterForeground")
    #endif
}

extension URLRequest {
    public var allowsExpensiveNetworkAccess: Bool {
        get { true }
        set {}
    }
    public var allowsConstrainedNetworkAccess: Bool {
        get { true }
        set {}
    }
}

#if !os(tvOS) && !os(watchOS)
    extension URLResourceKey {
        public static let volumeAvailableCapacityForImportantUsageKey = URLResourceKey(
            rawValue: "NSURLVolumeAvailableCapacityForImportantUsageKey")
    }

    extension URLResourceValues {
        public var volumeAvailableCapacityForImportantUsage: Int64? { nil }
    }
#endif
