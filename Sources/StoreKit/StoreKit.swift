// This module replaces Apple's StoreKit on Linux. Like Apple's, it exports Foundation, so that code with only
// `import StoreKit` can use `Date` and `Data`.
@_exported public import Foundation
