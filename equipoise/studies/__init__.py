"""Studies of finished results: back-translations, and people's labels."""
