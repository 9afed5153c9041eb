"""What all pages are made of: the frame around a page's content, and figures as data for Plotly. Knows no command's
results."""
