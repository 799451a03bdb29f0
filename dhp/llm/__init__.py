"""Language models: clients, the request engine, the store of replies, cost."""
