"""The round: who may do what, and when. Asks the shoe for cards and the wager service for holds."""
