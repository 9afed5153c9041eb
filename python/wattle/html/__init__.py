"""Parts of all pages: the frame around the content, and figures as data for Plotly. It imports no package that
uses it.
"""
