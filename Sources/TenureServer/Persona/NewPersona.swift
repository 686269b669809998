import TenureCore

/// A persona (a test customer for sandbox builds) to create: from the admin API's request, or ready-made.
struct NewPersona {
    let name: String
    /// A description of the customer whom a ready-made persona represents, for people; nil for other personas.
    let what: String?
    /// What the persona proves about getting the app.
    let proof: AppProof
}
