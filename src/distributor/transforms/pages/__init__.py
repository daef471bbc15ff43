"""What page-making transforms share: parsing, sanitising, enriching, and the page around it."""
