"""What every room uses: languages, bad input, files, rounding, packaged data, the style of pictures, the cells of a lesson."""
