"""What is kept between runs: results, evidence, the secret, and what came from other machines."""
