"""What stands around every page: navigation, frame, login, tour, glossary, coming back."""
