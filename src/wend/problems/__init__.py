"""Problems: agents with starts and goals on a map."""
