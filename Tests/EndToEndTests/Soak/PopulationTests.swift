import Testing

/// `make soak` runs this test with more customers.
@Test func `the service's decisions about a population agree with the local App Store's state`() async throws {
    let population = Population(size: SoakScale.populationSize, seed: SoakScale.isFull ? "soak" : "tests")
    let result = try await PopulationRun(population: population).run()
    #expect(result.differences.isEmpty)
    #expect(result.compared > SoakScale.populationSize)
    // A population without operations would pass too.
    for operation in [
        "subscribes", "upgrades", "cannot pay", "leaves the family", "returns the app", "has a period refunded",
    ] {
        #expect(result.happened[operation, default: 0] > 0, "\(operation)")
    }
}
