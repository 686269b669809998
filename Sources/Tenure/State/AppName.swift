import Foundation

/// The name under which this app stores its state.
enum AppName {
    static var ofThisApp: String { Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName }
}
