// Names that documented snippets use without declaring them. `Scripts/snippet-check` compiles this file beside them.
import Foundation
import StoreKit
import Tenure

@MainActor var tenure: Tenure { fatalError() }
/// The address of a service or of a file.
@MainActor var url: URL { fatalError() }
/// The key that a service signs with.
@MainActor var key: Tenure.ServiceKey { fatalError() }
@MainActor var product: Product { fatalError() }
@MainActor var allTerms: [Tenure.ProductTerms] { fatalError() }
/// When an app's business model changed.
@MainActor var change: Date { fatalError() }

@MainActor func unlock() {}
@MainActor func show(_ value: some Any) {}
