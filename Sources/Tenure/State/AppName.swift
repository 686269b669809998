import Foundation

/// Under which name this app keeps what it keeps.
enum AppName {
    static var ofThisApp: String { Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName }
}
