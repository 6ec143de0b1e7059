// The explorer starts here.
