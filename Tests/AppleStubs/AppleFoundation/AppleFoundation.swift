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

#if !os(macOS)
    extension URLSessionConfiguration {
        public class func background(withIdentifier identifier: String) -> URLSessionConfiguration { .default }
        public var sharedContainerIdentifier: String? {
            get { nil }
            set {}
        }
        public var isDiscretionary: Bool {
            get { false }
            set {}
        }
        public var sessionSendsLaunchEvents: Bool {
            get { true }
            set {}
        }
    }

    extension URLSessionTask {
        public var countOfBytesClientExpectsToReceive: Int64 {
            get { -1 }
            set {}
        }
    }

    extension ProcessInfo {
        public func performExpiringActivity(
            withReason reason: String, using block: @escaping @Sendable (_ expired: Bool) -> Void
        ) {}
    }
#endif

#if !os(tvOS) && !os(watchOS)
    extension URLResourceKey {
        public static let volumeAvailableCapacityForImportantUsageKey = URLResourceKey(
            rawValue: "NSURLVolumeAvailableCapacityForImportantUsageKey")
    }

    extension URLResourceValues {
        public var volumeAvailableCapacityForImportantUsage: Int64? { nil }
    }
#endif
