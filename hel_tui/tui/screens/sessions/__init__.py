"""The kept sessions on the screen: a sheet to find one in, one of its turns, and what is done with them."""
