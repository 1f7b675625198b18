"""Questions of fact made out of documents, stage by stage."""
